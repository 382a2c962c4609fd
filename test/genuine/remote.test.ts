import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { untilAnswered } from "../support/claude";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { Container, remotesOption } from "../support/remote";
import { claudeCli, EXECUTABLE, NEWEST, ROOT } from "../support/toolchain";
import { edit, read } from "../support/turns";
import { eventually } from "./eventually";
import { MODIFIED, REJECTED, UPDATED } from "./first-light";
import { CASE_MS, InTerminal, START_MS } from "./in-terminal";

/*
 * The genuine CLI in namespaces of its own, as in a container, and Neovim outside. Only the model is a stand-in.
 */
requireNamespace();

const MAIN = `local name = "zero"\nreturn name\n`;
const WAYS: [name: string, at: string | undefined, by: "stdio" | "socket"][] = [
  ["the project at another path", Container.PROJECT, "stdio"],
  ["the project at the same path, by a socket", undefined, "socket"],
];

describe.each(WAYS)("Claude in a container, %s", (_name, at, by) => {
  let container: Container;
  const claude = new InTerminal();
  claude.inBlock(NEWEST, {
    files: { "main.lua": MAIN, "other.lua": "return 1\n" },
    terminal: `remote = "dev",`,
    setup: () =>
      remotesOption({
        command: container.claude,
        relay: by === "stdio" ? container.relay : `unix:${claude.root}/inside/run/relay.sock`,
        ...(at !== undefined && { path_mappings: { [at]: claude.project } }),
      }),
    prepare: async () => {
      container = await Container.start({
        project: claude.project,
        ...(at !== undefined && { at }),
        home: join(claude.root, "inside"),
        hidden: [claude.home, ...(at === undefined ? [] : [claude.project])],
        model: claude.model,
      });
      if (by === "socket") container.startRelay(`${Container.HOME}/run`);
    },
  });
  afterAll(() => container?.stop());

  /** A file of the project, as Claude names it. */
  const inside = (name: string) => join(container.project, name);
  const clients = () =>
    claude.neovim.lua<(string | undefined)[]>(
      `return vim.tbl_map(function(client) return client.remote end, require("port").server.clients)`,
    );
  const connected = () => eventually(clients, ["dev"], START_MS);
  const press = (key: string) => claude.neovim.terminal.press(key);

  /** Claude edits the main file; returns the proposal once Neovim shows it, with the cursor there. */
  const propose = async (from: string, to: string) => {
    const main = inside("main.lua");
    const proposal = (await claude.onDisk("main.lua")).replace(from, to);
    claude.model.script([read(main), edit(main, from, to), [{ text: "Done." }]]);
    await claude.command("Claude send! -- change it");
    const diff = await claude.neovim.waitForDiff(proposal);
    await claude.neovim.focus(diff.proposed.window);
    return proposal;
  };
  const received = (words: string) =>
    claude.model.nextRequest((request) => newsText(request).includes(words));
  const written = async (text: string) => {
    await eventually(() => claude.onDisk("main.lua"), text);
    await eventually(() => claude.neovim.buffer(claude.path("main.lua")), {
      text,
      modified: false,
    });
  };

  /** The CLI's own question outlives the diff. */
  const leaveQuestion = async () => {
    const pressEscape = `
      local row = require("port").session_rows.get(1)
      vim.api.nvim_chan_send(vim.bo[row.buf].channel, "\\27")
      return true`;
    const asks = `return require("port").session_rows.get(1).state == "blocked"`;
    const isAnswered = async () => !(await claude.neovim.lua<boolean>(asks));
    expect(await untilAnswered(() => claude.neovim.lua(pressEscape), isAnswered)).toBe(true);
  };

  test(
    ":Claude starts it there, connected by a lock file without a pid",
    async () => {
      await claude.command("Claude");
      await claude.showing(/^❯/m);
      await connected();
      const folder = join(claude.root, "inside/.claude/ide");
      const [name = ""] = readdirSync(folder);
      const lock = JSON.parse(readFileSync(join(folder, name), "utf8"));
      expect(lock).toMatchObject({ workspaceFolders: [container.project] });
      expect(lock).not.toHaveProperty("pid");
      await claude.command("wincmd p");
    },
    CASE_MS,
  );

  test(
    "accepted: the CLI writes inside, the buffer follows",
    async () => {
      const proposal = await propose("zero", "one");
      const bar = `return vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true }).str`;
      expect(await claude.neovim.lua<string>(bar)).toContain("dev");
      await press("Enter");
      expect(newsText(await received(UPDATED))).not.toContain(MODIFIED);
      await written(proposal);
    },
    CASE_MS,
  );

  test(
    "edited, then accepted: the model learns of it",
    async () => {
      const proposal = await propose("one", "two");
      await claude.neovim.terminal.type("GA -- mine");
      await press("Escape");
      await claude.neovim.terminal.type(":w");
      await press("Enter");
      expect(newsText(await received("updated successfully"))).toContain(MODIFIED);
      await written(proposal.replace("return name\n", "return name -- mine\n"));
    },
    CASE_MS,
  );

  test(
    "rejected: nothing changes",
    async () => {
      const text = await claude.onDisk("main.lua");
      await propose("two", "three");
      await press("q");
      await eventually(() => claude.neovim.diff(), null);
      await written(text);
      await claude.showing(/Rejected update/);
      claude.model.script([[{ text: "Understood." }]]);
      await claude.command("Claude send! -- go on");
      expect(newsText(await claude.model.nextRequest())).toContain(REJECTED);
    },
    CASE_MS,
  );

  test(
    "what an edit broke is sent with its result",
    async () => {
      const control = mkdtempSync(join(claude.home, "tmp/server-"));
      const server = [process.execPath, join(ROOT, "test/support/scripted-language-server.ts")];
      const cmd = JSON.stringify([...server, control]);
      await claude.neovim.lua(`
        vim.lsp.start({ name = "scripted", cmd = vim.json.decode([=[${cmd}]=]) }, {
          bufnr = vim.fn.bufnr("main.lua"),
        })
        return true`);
      const isReady = 'return (vim.lsp.get_clients({ name = "scripted" })[1] or {}).initialized';
      await eventually(() => claude.neovim.lua(isReady), true);
      await propose("return name", "return WRONG");
      await press("Enter");
      const said = newsText(await received(UPDATED));
      expect(said).toContain("<new-diagnostics>");
      expect(said).toContain("return WRONG");
      await eventually(() => claude.neovim.diff(), null);
    },
    CASE_MS,
  );

  test(
    "what is selected, and what is mentioned, has the path that it has there",
    async () => {
      await claude.command("edit other.lua");
      await claude.showing(/⧉ In other\.lua/);
      await claude.neovim.terminal.type("V");
      claude.model.script([[{ text: "Understood." }]]);
      await claude.showing(/⧉ 1 line selected/);
      await claude.send("what is that?");
      expect(newsText(await claude.model.nextRequest())).toContain(
        `The user selected the lines 1 to 1 from ${inside("other.lua")}:\nreturn 1`,
      );
      await press("Escape");
      claude.model.script([[{ text: "Understood." }]]);
      await claude.command("Claude mention main.lua");
      await claude.showing(/@main\.lua/);
      await claude.send("and that?");
      // Below the CLI's working folder, so it is a file of there.
      expect(newsText(await claude.model.nextRequest())).toContain("@main.lua and that?");
      await claude.command("edit main.lua");
    },
    CASE_MS,
  );

  test(
    "when the relay is killed, its diff is rejected, and the CLI connects again",
    async () => {
      const text = await claude.onDisk("main.lua");
      await propose("two", "lost");
      container.kill(`^${EXECUTABLE} relay `);
      if (by === "socket") container.startRelay(`${Container.HOME}/run`);
      await eventually(() => claude.neovim.diff(), null);
      await connected();
      await written(text);
      await leaveQuestion();
    },
    CASE_MS,
  );

  test(
    "when the executable is killed, the CLI connects again, by the same port",
    async () => {
      const [before] = readdirSync(join(claude.root, "inside/.claude/ide"));
      await propose("two", "again");
      process.kill(await serverPid(), "SIGKILL");
      await eventually(clients, []);
      await eventually(() => claude.neovim.diff(), null);
      await connected();
      expect(readdirSync(join(claude.root, "inside/.claude/ide"))).toEqual([before as string]);
      await leaveQuestion();
    },
    CASE_MS,
  );

  test(
    "what it changes without asking is in the review, and its tools read",
    async () => {
      await claude.command("Claude new --permission-mode acceptEdits");
      await claude.showing(/^❯/m, 2);
      await eventually(clients, ["dev", "dev"], START_MS);
      await claude.command("stopinsert | wincmd p | edit other.lua");
      const other = inside("other.lua");
      claude.model.script([read(other), edit(other, "1", "2"), [{ text: "Done." }]]);
      await claude.neovim.lua(
        `require("port").terminal.send("go on", { submit = true, n = 2 }) return true`,
      );
      const request = await received(UPDATED);
      const tools = request.tools?.map(({ name }) => name) ?? [];
      expect(tools).toContain("mcp__nvim-lsp__find_symbol");
      expect(tools).not.toContain("mcp__nvim-lsp__rename_symbol");
      expect(tools).not.toContain("mcp__ide__executeCode");
      expect(await claude.onDisk("other.lua")).toBe("return 2\n");
      const waiting = () =>
        claude.neovim.lua<number>("return (vim.b.claude_code_review or {}).hunks or 0");
      await eventually(waiting, 1, START_MS);
    },
    CASE_MS,
  );

  test(
    "when the CLIs are killed, their sessions end",
    async () => {
      container.kill(`^${claudeCli()} .*--session-id`);
      await eventually(clients, [], START_MS);
    },
    CASE_MS,
  );

  const serverPid = () => claude.neovim.lua<number>(`return require("port").server.process.pid`);
});
