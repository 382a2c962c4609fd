import { rmSync, writeFileSync } from "node:fs";
import {
  eventually,
  first,
  isolatedEnv,
  NEOVIMS,
  NEWEST,
  nightly,
  perBlock,
  temporaryFolder,
} from "#test";
import { join } from "../../src/lib/platform";
import { call, connect } from "../nvim-lsp/client";
import { later } from "../support/later";
import { languageServer } from "../support/lsp-stdio";
import { Calls } from "./calls";
import { Project } from "./project";

/*
 * Language servers that are still starting, that index, or that end: the end of Claude's turn waits
 * for them to a limit, and unchecked text never counts as right. The server is a real
 * process.
 */
const GO = { continue: true } as const;

const LISTEN = `
  _G.notified = {}
  vim.notify = function(text) table.insert(_G.notified, text) end`;

/** No server, buffer, session or configuration of the previous test is left. */
const RESET = `
  local port = require("port")
  for _, session in ipairs(port.checked_sessions.list()) do
    port.sessions.finish({ session = session.id, installation = "settings" })
  end
  local function clients()
    return vim.lsp.get_clients({ _uninitialized = true })
  end
  if vim.lsp.enable then vim.lsp.enable("enabled", false) end
  vim.lsp.stop_client(clients(), true)
  vim.wait(10000, function() return #clients() == 0 end, 5)
  vim.api.nvim_clear_autocmds({ event = "FileType", pattern = "text" })
  vim.api.nvim_create_augroup("lint", {})
  vim.cmd("silent! %bwipeout!")
  port.language_servers.TIMEOUT_MS = 600000`;

/** The end of a turn waits this long for a server that is ready, and in all. */
const [DEADLINE_MS, BUSY_MS] = [20_000, 60_000];

describe.each(NEOVIMS)("a slow language server with $name", (version) => {
  let calls: Calls;
  let control: string;
  let count = 0;
  let name: string;
  let session: { session_id: string };

  const project = perBlock(() => Project.open(version, "{ diagnostics = { after_edit = false } }"));
  beforeAll(async () => {
    calls = await Calls.count(project);
  });
  beforeEach(async () => {
    control = temporaryFolder();
    await project.neovim.lua(RESET);
    await project.neovim.lua(LISTEN);
    await project.serve({ text: { name: "scripted", cmd: languageServer(control) } });
    await options(DEADLINE_MS, BUSY_MS);
    await calls.forget();
    count += 1;
    name = `file-${count}.txt`;
    session = { session_id: `session-${count}` };
  });

  /** The server is in this state until it is released. */
  const hold = (state: string) => writeFileSync(join(control, state), "");
  const release = (state: string) => rmSync(join(control, state));
  const options = (deadline: number, busy: number) =>
    project.neovim.lua(
      `local turn = require("port").sessions
       turn.DEADLINE_MS, turn.BUSY_DEADLINE_MS = ...`,
      deadline,
      busy,
    );
  const edit = (text: string) => project.edit(name, text, session);
  const stop = (prompt: string) => project.stop({ ...session, prompt_id: prompt });
  /** Waits until Neovim knows that the server indexes. */
  const indexing = () =>
    project.neovim.until(
      "the server",
      `local client = vim.lsp.get_clients()[1]
        return client ~= nil and require("port").language_servers.busy_with(client.id) == "indexing"`,
    );
  const notified = () => project.neovim.lua<string[]>("return _G.notified");
  async function editWhileIndexing(): Promise<void> {
    hold("indexing");
    await edit("WRONG one\n");
    await indexing();
  }
  /** Waits until Neovim shows only this message. */
  const told = (text: string) =>
    eventually("the message", async () =>
      expect(await notified()).toEqual([expect.stringContaining(text)]),
    );
  /** The text put into Claude's prompt. */
  async function sent(): Promise<string> {
    await project.neovim.lua(`
      require("port").prompt.send = function(text)
        SENT = text
        return true
      end`);
    await project.neovim.command("Claude diagnostics!");
    return await project.neovim.lua<string>("return SENT");
  }
  /** Waits until Neovim no longer expects reports. */
  async function givenUp(): Promise<void> {
    const pending = "return #require('port').pending_reports.paths()";
    await eventually("its time", async () => (await project.neovim.lua(pending)) === 0);
  }

  /** Waits until a stopping Claude has been kept for longer than a server that is ready gets. */
  async function kept(): Promise<void> {
    await calls.waiting();
    await later(project.neovim, DEADLINE_MS);
    // Only a later check of the server postpones the end.
    const asked = await calls.of("session_summary");
    await eventually("it waits on", async () => (await calls.of("session_summary")) > asked);
  }

  /** The end of a turn that waits as long as possible. */
  async function stopAfterAll(prompt: string, id = session.session_id) {
    await calls.forget();
    const stopped = project.stop({ session_id: id, prompt_id: prompt });
    await calls.waiting();
    await later(project.neovim, BUSY_MS);
    return stopped;
  }

  test.each(["starting", "indexing"])(
    "is waited for while it is %s, and blocks by what it finds",
    async (state) => {
      hold(state);
      await edit("WRONG one\n");
      const stopped = stop("one");
      if (state === "indexing") await indexing();
      await kept();
      release(state);
      const { decision, reason } = await stopped;
      expect(decision).toBe("block");
      expect(reason).toContain(`${name}:1:1 error: WRONG one (scripted)`);
      expect(reason).not.toContain("not every language server");
      await edit("fine\n");
      expect(await stop("two")).toEqual(GO);
      expect(await notified()).toEqual([]);
    },
  );

  /** Works like a configuration that runs a program to find the root. */
  const START_LATER = `
    local command = ...
    vim.api.nvim_clear_autocmds({ event = "FileType", pattern = "text" })
    vim.api.nvim_create_autocmd("FileType", { pattern = "text", callback = function(args)
      vim.defer_fn(function()
        vim.lsp.start({ name = "later", cmd = command, root_dir = vim.fn.getcwd() }, { bufnr = args.buf })
      end, 50)
    end })`;
  test("is waited for when it starts some time after the file was loaded", async () => {
    await project.neovim.lua(START_LATER, languageServer(control));
    hold("starting");
    await edit("WRONG one\n");
    const clients = "return #vim.lsp.get_clients({ _uninitialized = true })";
    await eventually("its start", async () => (await project.neovim.lua(clients)) === 1);
    const stopped = stop("one");
    await kept();
    release("starting");
    expect(await stopped).toMatchObject({ reason: expect.stringContaining("WRONG one") });
  });

  const ENABLE = `
    local command = ...
    vim.api.nvim_clear_autocmds({ event = "FileType", pattern = "text" })
    vim.lsp.config("enabled", {
      cmd = command,
      filetypes = { "text" },
      root_dir = function(_, done)
        vim.defer_fn(function() done(vim.fn.getcwd()) end, 100)
      end,
    })
    vim.lsp.enable("enabled")`;
  if (version === NEWEST) {
    test("is waited for when it is enabled, and starts while Claude stops", async () => {
      await project.neovim.lua(ENABLE, languageServer(control));
      await edit("WRONG one\n");
      expect((await stop("one")).reason).toContain("WRONG one");
    });

    test("does not start for a type that the user has not opened, and says so", async () => {
      await project.neovim.command("silent! %bwipeout!");
      await project.neovim.lua(ENABLE, languageServer(control));
      await edit("WRONG one\n");
      const unknown = `diagnostics of ${name} unknown (you have no text file open)`;
      expect(await stop("one")).toEqual({ ...GO, systemMessage: unknown });
      expect(await project.neovim.lua("return #vim.lsp.get_clients()")).toBe(0);
    });
  }

  test("is waited for when it starts for longer than a report may take", async () => {
    await project.neovim.lua("require('port').language_servers.TIMEOUT_MS = 100000");
    hold("starting");
    await edit("WRONG one\n");
    const stopped = stop("one");
    await kept();
    await project.neovim.lua(`
      local now = vim.uv.hrtime
      vim.uv.hrtime = function() return now() + 150000 * 1e6 end
      require("port").pending_reports.review()`);
    release("starting");
    expect(await stopped).toMatchObject({ reason: expect.stringContaining("WRONG one") });
  });

  test.each(first(1, ["starting", "indexing"]))(
    "is reported when it is %s for too long, and sent when it answers later",
    async (state) => {
      hold(state);
      await edit("WRONG one\nWRONG two\n");
      if (state === "indexing") await indexing();
      const unknown = `diagnostics of ${name} unknown (scripted is still ${state})`;
      expect(await stopAfterAll("one")).toEqual({ ...GO, systemMessage: unknown });

      // It is neither reported nor waited for again.
      await calls.forget();
      expect(await stop("two")).toEqual(GO);
      expect(await calls.of("when_settled")).toBe(0);
      expect(await notified()).toEqual([]);

      release(state);
      const late =
        `found after Claude's turn: 2 errors in ${name}; ` +
        ":Claude diagnostics! sends this to Claude";
      await told(late);

      expect(await sent()).toContain(
        `- ${name}:1:1 [ERROR]: WRONG one\n- ${name}:2:1 [ERROR]: WRONG two\n`,
      );
      // Claude must fix it now at the latest.
      expect(await stop("three")).toMatchObject({ decision: "block" });
    },
  );

  nightly.test("sends each session a message of its own problems", async () => {
    await project.neovim.lua(`
      ROWS = require("port").session_rows
      ROWS.add({ n = 1, id = "first" })
      ROWS.add({ n = 2, id = "second", name = "docs" })
      ROWS.use(1)`);
    hold("starting");
    await project.edit("one.txt", "WRONG one\n", { session_id: "first" });
    await project.edit("more.txt", "WRONG more\n", { session_id: "first" });
    await project.edit("two.txt", "WRONG two\n", { session_id: "second" });
    const ended = await stopAfterAll("one", "first");
    expect(ended.systemMessage).toStartWith("diagnostics of 2 files unknown");
    await stopAfterAll("one", "second");
    release("starting");
    await eventually("both messages", async () =>
      expect((await notified()).toSorted()).toEqual([
        expect.stringMatching(
          /found after the turn of Claude 1: 2 errors in 2 files; .* Claude 1$/,
        ),
        expect.stringMatching(/turn of Claude 2 \(docs\): 1 error in two\.txt; .* \(docs\)$/),
      ]),
    );
    const message = await sent();
    expect(message).toContain("one.txt:1:1");
    expect(message).not.toContain("two.txt");
    await project.neovim.lua("for n = 1, 2 do ROWS.remove(n) end");
  });

  nightly.test("treats silence as unknown unless it means that nothing changed", async () => {
    await edit("fine\n");
    expect(await stop("one")).toEqual(GO);
    hold("silent");
    await edit("WRONG one\n");
    const systemMessage = `diagnostics of ${name} unknown (scripted has not reported in time)`;
    expect(await stopAfterAll("two")).toEqual({ ...GO, systemMessage });
    release("silent");
    await told("1 error in");

    await project.neovim.lua("require('port').language_servers.TIMEOUT_MS = 20");
    hold("silent");
    await edit("fine\n");
    await givenUp();
    await project.neovim.lua("require('port').language_servers.TIMEOUT_MS = 600000");
    await edit("fine too\n");
    const { reason } = await stopAfterAll("three");
    expect(reason).toContain("server has reported in time: this may be older than your last edit");
  });

  nightly.test(
    "learns that a server is silent about a fine file, and waits only once",
    async () => {
      await edit("fine\n");
      expect(await stop("one")).toEqual(GO);
      hold("silent");
      await project.neovim.lua("require('port').language_servers.TIMEOUT_MS = 20");
      await edit("fine too\n");
      await givenUp();
      await project.hook("session-end", session);

      session = { session_id: `${session.session_id}-later` };
      // Longer than the test may take.
      await options(600_000, 600_000);
      await project.neovim.lua("require('port').language_servers.TIMEOUT_MS = 600000");
      await edit("still fine\n");
      expect(await stop("two")).toEqual(GO);
    },
  );

  test("sends no message when nothing is wrong after all", async () => {
    hold("starting");
    await edit("fine\n");
    const { systemMessage } = await stopAfterAll("one");
    expect(systemMessage).toContain("unknown");
    release("starting");
    // A message would come at once.
    await project.neovim.until(
      "the report",
      "return next(require('port').checked_sessions.list()[1].files) == nil",
    );
    expect(await notified()).toEqual([]);
  });

  test("is unknown when it ends before it reports", async () => {
    await editWhileIndexing();
    const stopped = stop("one");
    await kept();
    hold("crash");
    const systemMessage = `diagnostics of ${name} unknown (scripted has ended)`;
    expect(await stopped).toEqual({ ...GO, systemMessage });
    expect(project.log).toContain(systemMessage);
    expect(await stop("two")).toEqual(GO);
  });

  test("names the server whose report is missing if other problems block", async () => {
    await project.neovim.lua(`
      vim.api.nvim_create_autocmd("BufReadPost", { group = "lint", callback = function(args)
        vim.diagnostic.set(vim.api.nvim_create_namespace("lint"), args.buf, { { lnum = 0, col = 0, message = "linted" } })
      end })`);
    await editWhileIndexing();
    const { reason } = await stopAfterAll("one");
    expect(reason).toContain("linted");
    expect(reason).toContain(
      "Not every language server has reported in time (scripted is still indexing): this may be older",
    );
  });

  test("says in get_session_diagnostics what is unknown", async () => {
    await editWhileIndexing();
    const client = await connect(project.folder, isolatedEnv(project.neovim.home));
    const texts = async () => {
      const { content } = await call(client, "get_session_diagnostics");
      return content.map(({ text }) => text);
    };
    const unknown = `diagnostics of ${name} unknown (scripted is still indexing)`;
    const asked = texts();
    await calls.waiting();
    await later(project.neovim, 1_500);
    expect(await asked).toEqual(["{}", unknown]);
    release("indexing");
    await eventually("the report", async () => {
      expect(await texts()).toEqual([expect.stringContaining("WRONG one")]);
    });
    await client.close();
  });
});
