import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  claims,
  EXECUTABLE,
  eventually,
  isolatedEnv,
  lacks,
  NEOVIMS,
  NEWEST,
  nightly,
  OLDEST,
  temporaryFolder,
} from "#test";
import { READING_TOOLS } from "../../src/claude/names";
import { join } from "../../src/lib/platform";
import { Calls } from "../hooks/calls";
import { Project } from "../hooks/project";
import { publish, startSilentServer } from "../hooks/silent-server";
import { keepBusy } from "../support/busy";
import { later } from "../support/later";
import { call, connect, json } from "./client";

/* `claude-code-nvim mcp` as Claude Code runs it, by the official MCP client and by hand. */
const LONG_MS = 600_000;

const keys = async (...asked: Parameters<typeof json>) =>
  Object.keys((await json(...asked)) as object);

describe.each(NEOVIMS)("the stdio server with $name", (version) => {
  let project: Project;
  let client: Client;
  beforeAll(async () => {
    project = await Project.open(version);
    project.write("main.lua", "fine\n  ERROR ä here\n");
    project.write("deep/utils.lua", "WARN a\nINFO b\nHINT c\n");
    project.write("clean.lua", "fine\n");
    for (const name of ["main.lua", "deep/utils.lua", "clean.lua"]) {
      await project.neovim.command(`edit ${project.path(name)}`);
    }
    client = await connect(project.folder, isolatedEnv(project.neovim.home));
  });
  afterAll(async () => {
    await client.close();
    await project[Symbol.asyncDispose]();
  });

  const main = [
    { line: 2, column: 3, severity: "ERROR", message: "  ERROR ä here", source: "marks" },
  ];
  const utils = [
    { line: 1, column: 1, severity: "WARN", message: "WARN a", source: "marks" },
    { line: 2, column: 1, severity: "INFO", message: "INFO b", source: "marks" },
    { line: 3, column: 1, severity: "HINT", message: "HINT c", source: "marks" },
  ];

  test("offers its tools, always loads some, and marks those that write", async () => {
    claims("Renames and code actions stay in the workspace");
    expect(client.getServerVersion()?.name).toBe("nvim-lsp");
    expect(client.getInstructions()).toContain("get_session_diagnostics");
    const { tools } = await client.listTools();
    const names = (some: typeof tools) => some.map(({ name }) => name).join(" ");
    expect(names(tools)).toBe(
      "find_symbol find_references outline rename_symbol code_action get_diagnostics " +
        "get_diagnostic_context get_diagnostic_summary get_session_diagnostics " +
        "editor_selection editor_position editor_buffers editor_context",
    );
    const always = tools.filter(({ _meta }) => _meta?.["anthropic/alwaysLoad"] === true);
    expect(names(always)).toBe("find_symbol find_references rename_symbol get_session_diagnostics");
    const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint === true);
    const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint === true);
    expect(names(destructive)).toBe("rename_symbol code_action");
    expect(reading.length + destructive.length).toBe(tools.length);
    expect(reading.map(({ name }) => name)).toEqual(READING_TOOLS);
  });

  const all = { "main.lua": main, "deep/utils.lua": utils };
  const requests: [unknown, object][] = [
    [undefined, all],
    [null, all],
    [[], all],
    ["main.lua", { "main.lua": main }],
    [["deep/utils.lua", "clean.lua"], { "deep/utils.lua": utils }],
    ["main", {}],
    ["no.lua", {}],
  ];
  test.each(requests)("answers get_diagnostics of %j", async (file_paths, answer) => {
    await eventually("the linter", async () => {
      expect(await json(client, "get_diagnostics", { file_paths })).toEqual(answer);
    });
  });

  test("refuses get_diagnostics of more files than one call may name", async () => {
    const many = Array.from({ length: 51 }, (_, index) => `many/${index}.lua`);
    const { content, isError } = await call(client, "get_diagnostics", { file_paths: many });
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain("Too many files for one call: 51; at most 50");
    expect(await json(client, "get_diagnostics", { file_paths: many.slice(1) })).toEqual({});
    const long = many.slice(1).map((name) => "a/".repeat(1_900) + name);
    const refused = await call(client, "get_diagnostics", { file_paths: long });
    expect(refused.content[0]?.text).toContain("65536 bytes in all their paths");
  });

  test("loads files that are not open a few at a time, and unloads them", async () => {
    const names = Array.from({ length: 50 }, (_, index) => `closed/${index}.lua`);
    for (const name of names) project.write(name, name.includes("7") ? "ERROR\n" : "fine\n");
    project.write("closed/one-more.lua", "fine\n");
    const count = () => project.neovim.lua<number>("return #vim.api.nvim_list_bufs()");
    const keep = (ms: number) => project.neovim.lua('require("port").background.KEEP_MS = ...', ms);
    const before = await count();
    await keep(LONG_MS);
    const paths = names.map((name, at) => (at % 2 === 0 ? name : project.path(name)));
    await json(client, "get_diagnostics", { file_paths: paths });
    expect(await count()).toBe(before + 50);
    const listed = "return vim.bo[vim.fn.bufnr('closed/7.lua')].buflisted";
    expect(await project.neovim.lua(listed)).toBe(false);
    const wrong = names.filter((name) => name.includes("7"));
    await eventually("the linter", async () => {
      const found = await keys(client, "get_diagnostics", { file_paths: names });
      expect(found.sort()).toEqual(wrong.sort());
    });
    const context = (file_path: string) =>
      call(client, "get_diagnostic_context", { file_path, line: 1 });
    expect((await context("closed/7.lua")).isError).toBeUndefined();
    expect((await context("closed/8.lua")).isError).toBe(true);
    // The clock decides; the next load restarts the timer.
    await later(project.neovim, LONG_MS);
    await json(client, "get_diagnostics", { file_paths: "closed/one-more.lua" });
    await eventually("they go", async () => {
      expect(await count()).toBe(before + 1);
    });
    await keep(600_000);
    await project.neovim.command("bwipeout closed/one-more.lua");
  });

  test("loads no file that is too big", async () => {
    project.write("big.lua", "x".repeat(3_000_000));
    const { content, isError } = await call(client, "get_diagnostics", { file_paths: "big.lua" });
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain("big.lua is too big for Claude (3 MB, at most 2 MB");
  });

  test("understands names from Neovim's folder in a folder below it", async () => {
    const below = await connect(project.path("deep"), isolatedEnv(project.neovim.home));
    expect(await keys(below, "get_diagnostics")).toContain("deep/utils.lua");
    const args = { file_paths: "deep/utils.lua" };
    expect(await json(below, "get_diagnostics", args)).toEqual({ "deep/utils.lua": utils });
    const place = { file_path: "deep/utils.lua", line: 1 };
    expect(await json(below, "get_diagnostic_context", place)).toMatchObject({
      diagnostics: [{ message: "WARN a" }],
    });
    await below.close();
  });

  test("lists files of the same name in two folders", async () => {
    const other = temporaryFolder();
    await Bun.write(join(other, "main.lua"), "WARN elsewhere\n");
    await project.neovim.command(`tabnew | tcd ${other} | edit main.lua`);
    await project.neovim.command("tabprevious");
    await eventually("both", async () => {
      const wanted = expect.arrayContaining(["main.lua", join(other, "main.lua")]);
      expect(await keys(client, "get_diagnostics")).toEqual(wanted);
    });
    await project.neovim.command(`tabnext | tabclose | bwipeout ${join(other, "main.lua")}`);
  });

  test("answers get_diagnostic_context", async () => {
    expect(
      await json(client, "get_diagnostic_context", { file_path: "main.lua", line: 2 }),
    ).toEqual({
      diagnostics: main,
      context: { lines: ["fine", "  ERROR ä here"], start_line: 1, target_line: 2 },
      filetype: "lua",
    });
    const long = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);
    await project.neovim.command(`edit ${project.write("long.lua", `${long.join("\n")}\n`)}`);
    const args = { file_path: "long.lua", line: 20 };
    expect(await json(client, "get_diagnostic_context", args)).toMatchObject({
      diagnostics: [],
      context: { lines: long.slice(14, 25), start_line: 15, target_line: 20 },
    });
  });

  test.each([
    [{ file_path: "no.lua", line: 1 }, "File not open"],
    [{ file_path: "main.lua", line: 3 }, "Line 3 is not in"],
  ])("refuses get_diagnostic_context of %o", async (args, message) => {
    const { content, isError } = await call(client, "get_diagnostic_context", args);
    expect(isError).toBe(true);
    expect(JSON.parse(content[0]?.text ?? "").error).toContain(message);
  });

  test("answers get_diagnostic_summary", async () => {
    expect(await json(client, "get_diagnostic_summary")).toEqual({
      total_errors: 1,
      total_warnings: 1,
      files_with_issues: [
        { file: "deep/utils.lua", errors: 0, warnings: 1 },
        { file: "main.lua", errors: 1, warnings: 0 },
      ],
    });
  });

  test("answers get_session_diagnostics until Claude may stop", async () => {
    expect(await json(client, "get_session_diagnostics")).toEqual({});
    await project.edit("new.lua", "ERROR new\n");
    const expected = [
      { line: 1, column: 1, severity: "ERROR", message: "ERROR new", source: "marks" },
    ];
    expect(await json(client, "get_session_diagnostics")).toEqual({ "new.lua": expected });
    expect(await project.stop({ prompt_id: "p" })).toMatchObject({ decision: "block" });
    expect(await json(client, "get_session_diagnostics")).toEqual({ "new.lua": expected });
    await project.stop({ prompt_id: "p", stop_hook_active: true });
    expect(await json(client, "get_session_diagnostics")).toEqual({});
  });

  test("answers for the session that it knows", async () => {
    const env = { ...isolatedEnv(project.neovim.home), CLAUDE_CODE_SESSION_ID: "mine" };
    const mine = await connect(project.folder, env);
    await project.edit("mine.lua", "ERROR mine\n", { session_id: "mine" });
    await project.edit("theirs.lua", "ERROR theirs\n", { session_id: "theirs" });
    expect(await keys(mine, "get_session_diagnostics")).toEqual(["mine.lua"]);
    await mine.close();
  });

  test("answers with the editor's state", async () => {
    await project.neovim.command(`edit ${project.path("main.lua")}`);
    await project.neovim.command("normal! 2G03l");
    expect(await json(client, "editor_position")).toMatchObject({
      line: 2,
      column: 3,
      buffer: "main.lua",
    });
    expect(await json(client, "editor_selection")).toEqual({ active: false });
    expect(await json(client, "editor_context", { lines_before: 1, lines_after: 0 })).toMatchObject(
      { context_before: "fine", current_line_text: "  ERROR ä here" },
    );
    const { buffers } = (await json(client, "editor_buffers")) as { buffers: { name: string }[] };
    expect(buffers.map(({ name }) => name)).toContain("clean.lua");
  });
});

function start(cwd: string, env: Record<string, string>) {
  const child = Bun.spawn([EXECUTABLE, "mcp"], {
    cwd,
    env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const received: Record<string, unknown>[] = [];
  const reading = (async () => {
    let text = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (text + chunk).split("\n");
      text = lines.pop() ?? "";
      received.push(...lines.map((line) => JSON.parse(line)));
    }
  })();
  const send = (text: string) => {
    child.stdin.write(text);
    child.stdin.flush();
  };
  const answer = (id: unknown) =>
    eventually(`answer ${id}`, () => received.find((message) => message.id === id) ?? false);
  return { child, received, reading, send, answer };
}

describe("without Neovim", () => {
  const home = temporaryFolder();
  const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2"}}}\n`;
  const probe = `{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}\n`;

  test("answers the probe, the handshake, pings and lists, in pieces and among junk", async () => {
    const { child, received, send, answer } = start(home, isolatedEnv(home));
    send(probe);
    expect(await answer("server-discover-probe-1")).toMatchObject({ error: { code: -32601 } });
    send(initialize);
    expect(await answer(0)).toMatchObject({
      result: { protocolVersion: "2025-11-25", serverInfo: { name: "nvim-lsp" } },
    });
    send(
      `{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n`,
    );
    expect(await answer(1)).toMatchObject({ result: {} });
    expect(await answer(2)).toMatchObject({ result: { tools: expect.any(Array) } });
    send('\n\r\nnonsense\n{"jsonrpc":"2.0","id":9,"me');
    await Bun.sleep(50);
    send('thod":"ping"}\r\n');
    expect(await answer(9)).toMatchObject({ result: {} });
    expect(received.some((message) => (message.error as { code?: number })?.code === -32700)).toBe(
      true,
    );
    child.kill();
  });

  test.each(["get_diagnostics", "get_session_diagnostics", "editor_position"])(
    "says by %s what to do",
    async (name) => {
      const client = await connect(home, isolatedEnv(home));
      const { content, isError } = await call(client, name);
      expect(isError).toBe(true);
      expect(content[0]?.text).toContain(`No Neovim with claude-code.nvim is open for ${home}`);
      await client.close();
    },
  );

  test.each([undefined, ...(lacks("signals") ? [] : (["SIGINT", "SIGTERM"] as const))])(
    "ends by %s, and with stdin",
    async (signal) => {
      const { child, send, answer } = start(home, isolatedEnv(home));
      send(initialize);
      await answer(0);
      if (signal) child.kill(signal);
      else child.stdin.end();
      expect(await child.exited).toBe(0);
    },
  );
});

nightly.test("follows a Neovim that restarts, and names one that is busy", async () => {
  const version = OLDEST;
  await using first = await Project.open(version);
  const env = { ...isolatedEnv(first.neovim.home), NVIM: join(first.neovim.home, "gone.sock") };
  const client = await connect(first.folder, env);
  await first.neovim.command(`edit ${first.write("a.lua", "ERROR\n")}`);
  await eventually("the first answer", async () =>
    expect(await keys(client, "get_diagnostics")).toEqual(["a.lua"]),
  );
  const release = await keepBusy(first.neovim);
  expect((await call(client, "get_diagnostics")).content[0]?.text).toContain("Neovim is busy");
  await release();
  await first.neovim.quit();
  expect((await call(client, "get_diagnostics")).content[0]?.text).toContain("No Neovim");
  await using second = await Project.open(version, "{}", first);
  await second.neovim.command(`edit ${second.write("b.lua", "WARN\n")}`);
  await eventually("the second answer", async () =>
    expect(await keys(client, "get_diagnostics")).toEqual(["b.lua"]),
  );
  await client.close();
});

test("waits for a pending report, at most 1.5 s, in several calls at once", async () => {
  await using project = await Project.open(NEWEST);
  await startSilentServer(project);
  const client = await connect(project.folder, isolatedEnv(project.neovim.home));
  await project.neovim.command(`edit ${project.write("a.lua", "ERROR\n")}`);
  project.write("a.lua", "fine\n");
  await project.neovim.command("checktime");
  const calls = await Calls.count(project);
  // Neovim's clock is stopped.
  await project.neovim.lua("NOW = vim.uv.now(); vim.uv.now = function() return NOW end");
  const first = json(client, "get_diagnostics", { file_paths: "a.lua" });
  await calls.waiting();
  await project.neovim.lua("NOW = NOW + 1500");
  expect(await first).toEqual({});
  const both = [
    json(client, "get_diagnostics", { file_paths: "a.lua" }),
    json(client, "get_diagnostics"),
  ];
  await calls.waiting(3);
  await project.neovim.lua("NOW = NOW + 1499");
  await publish(project, "a.lua", "wrong");
  for (const found of await Promise.all(both)) {
    expect(found).toMatchObject({ "a.lua": [{ message: "wrong" }] });
  }
  await client.close();
});

describe("with a second Neovim that is opened later for the same folder", () => {
  const version = NEWEST;
  // The server is our child, so we are its CLI; hooks learn it from this variable.
  const CLI = { CLAUDE_PID: String(process.pid) };
  const write = (project: Project, name: string) => ({
    tool_name: "Edit",
    tool_input: { file_path: project.write(name, "ERROR\n") },
  });
  const opened = async (first: Project) => {
    const second = await Project.open(version, "{}", first);
    await eventually("both", () => first.registered().length === 2);
    return second;
  };

  nightly.test("stays with the first", async () => {
    await using first = await Project.open(version);
    const client = await connect(first.folder, isolatedEnv(first.neovim.home));
    await json(client, "get_diagnostics");
    await using second = await opened(first);
    await first.hook("post-tool-use", write(first, "a.lua"), CLI);
    expect(await json(client, "get_session_diagnostics")).toHaveProperty(["a.lua"]);
    const { output } = await second.hook("stop", { stop_hook_active: false }, CLI);
    expect(output).toMatchObject({ decision: "block" });
    await client.close();
  });

  test("follows the hooks to their Neovim, and moves on when that ends", async () => {
    await using first = await Project.open(version);
    await first.hook("post-tool-use", write(first, "a.lua"), CLI);
    await using second = await opened(first);
    const client = await connect(first.folder, isolatedEnv(first.neovim.home));
    // The language server may report later than a call waits for it.
    const knows = (name: string) =>
      eventually(`problems of ${name}`, async () =>
        expect(await json(client, "get_session_diagnostics")).toHaveProperty([name]),
      );
    await knows("a.lua");

    await first.neovim.quit();
    await second.hook("post-tool-use", write(second, "b.lua"), CLI);
    await knows("b.lua");
    await client.close();
  });

  nightly.test("chooses again for a new CLI with the number of an older one", async () => {
    await using first = await Project.open(version);
    await first.hook("session-start", { source: "startup" }, CLI);
    await using second = await opened(first);
    const sessions = () =>
      second.neovim.lua<string[]>(`
        return vim.tbl_map(function(session) return session.id end, require("port").checked_sessions.list())`);
    await second.hook("session-start", { source: "clear" }, CLI);
    expect(await sessions()).toEqual([]);
    await second.hook("session-start", { source: "startup" }, CLI);
    expect(await sessions()).toEqual(["one"]);
  });
});
