import { expect, test } from "bun:test";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LIMITS } from "../../src/remote/wire";
import { claims } from "../support/claims";
import { eventually } from "../support/eventually";
import { EXECUTABLE, isolatedEnv, NEWEST, TestNeovim, temporaryFolder } from "../support/neovim";
import { HELLO, World } from "./world";

interface Frame {
  t: string;
  ch: number;
  d?: string;
}

/** Neovim with a relay that sends these frames; what it gets is read back. */
async function withRelay(neovim: TestNeovim, frames: object[]): Promise<() => Frame[]> {
  const folder = temporaryFolder();
  const got = join(folder, "got");
  writeFileSync(got, "");
  const lines = [HELLO, ...frames].map((frame) => JSON.stringify(frame));
  writeFileSync(
    join(folder, "relay.ts"),
    `const { appendFileSync } = require("node:fs");
     let first = true;
     for await (const line of console) {
       appendFileSync(${JSON.stringify(got)}, line + "\\n");
       if (first) for (const one of ${JSON.stringify(lines)}) process.stdout.write(one + "\\n");
       first = false;
     }`,
  );
  const relay = JSON.stringify([process.execPath, join(folder, "relay.ts")]);
  await neovim.lua(`
    require("claude-code").setup({ terminal = { remote = "dev" }, remotes = { dev = {
      command = { "/bin/sh", "-c", "exec cat", "{env}", "{args}" },
      relay = vim.json.decode([=[${relay}]=]),
      path_mappings = { ["/workspaces/x"] = vim.fn.getcwd() },
    } } })
    vim.cmd("Claude")`);
  return () =>
    readFileSync(got, "utf8")
      .split("\n")
      .slice(1)
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Frame]))
      // The others are Neovim's: it asks for the conversation.
      .filter(({ ch }) => ch % 2 === 1);
}

const opening = (kind: string, fields: object) =>
  JSON.stringify({ kind, args: [], cwd: "/workspaces/x", env: {}, ...fields });
const hook = (event: string, input: object, fields = {}) =>
  opening("hook", {
    args: [event],
    input: JSON.stringify({ session_id: "s", cwd: "/workspaces/x", ...input }),
    ...fields,
  });

const DEEP = "[".repeat(100_000) + "]".repeat(100_000);

test("hooks of a remote: only those of Claude Code, only in shared folders", async () => {
  claims("A remote's hooks run our program on shared files only");
  await using neovim = await TestNeovim.start({ version: NEWEST });
  await neovim.lock();
  const path = "/etc/passwd";
  const edited = { tool_name: "Edit", tool_input: { file_path: path } };
  const refused = [
    hook("compare", {}),
    hook("../stop", {}),
    hook("stop", { cwd: "/etc" }),
    hook("stop", {}, { cwd: "/etc" }),
    hook("stop", {}, { env: { CLAUDE_CODE_SESSION_ID: "../../x" } }),
    hook("post-tool-use", edited),
    opening("hook", { args: ["stop"], input: "not JSON" }),
    opening("hook", {
      args: ["stop"],
      input: `{"cwd":"/workspaces/x","tool_input":{"x":${DEEP}}}`,
    }),
    "not JSON",
  ];
  const opens = refused.map((d, index) => ({ t: "open", ch: 2 * index + 1, kind: "hook", d }));
  const stop = { t: "open", ch: 51, kind: "hook", d: hook("stop", {}) };
  const received = await withRelay(neovim, [...opens, stop]);
  await eventually(
    "all channels are closed",
    () => received().filter(({ t }) => t === "close").length === refused.length + 1,
  );
  const answers = received().filter(({ t }) => t === "data");
  expect(answers.map(({ ch }) => ch)).toEqual([51]);
  expect(JSON.parse(answers[0]?.d ?? "")).toMatchObject({ continue: true });
});

test("its MCP server: tools that read, of shared files, and no path of here", async () => {
  claims("A remote calls a closed list of tools");
  await using neovim = await TestNeovim.start({ version: NEWEST });
  await neovim.lock();
  await neovim.lua(`
    vim.cmd.edit("inside.txt")
    vim.diagnostic.set(vim.api.nvim_create_namespace("t"), 0, {
      { lnum = 0, col = 0, message = "wrong in " .. vim.fn.getcwd() .. "/inside.txt" } })
    vim.cmd.edit(vim.env.HOME .. "/outside.txt")
    vim.diagnostic.set(vim.api.nvim_create_namespace("t"), 0, { { lnum = 0, col = 0, message = "secret" } })`);
  const call = (id: number, name: string, args: object) => ({
    ...{ jsonrpc: "2.0", id, method: "tools/call" },
    params: { name, arguments: args },
  });
  const messages = [
    {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", clientInfo: { name: "c", version: "1" } },
    },
    { jsonrpc: "2.0", id: 2, method: "tools/list" },
    call(3, "rename_symbol", { symbol: "x", new_name: "y" }),
    call(4, "get_diagnostics", {}),
    call(5, "get_diagnostics", { file_paths: "/etc/passwd" }),
    call(6, "get_diagnostics", { file_paths: ["../outside.txt"] }),
    call(7, "outline", { path: "/workspaces/x/../../etc" }),
    call(8, "editor_selection", {}),
    { jsonrpc: "2.0", id: 9, method: "resources/list" },
  ];
  const frames = messages.map((message) => ({ t: "data", ch: 1, d: JSON.stringify(message) }));
  const received = await withRelay(neovim, [
    { t: "open", ch: 1, kind: "mcp", d: opening("mcp", {}) },
    ...frames,
  ]);
  const answers = () =>
    new Map(
      received()
        .flatMap(({ d }) => (d ? [JSON.parse(d)] : []))
        .map((one) => [one.id, one]),
    );
  await eventually("all answers", () => answers().size === messages.length);
  const names = answers()
    .get(2)
    .result.tools.map(({ name }: { name: string }) => name);
  expect(names).toContain("find_symbol");
  for (const name of ["rename_symbol", "code_action", "editor_selection"])
    expect(names).not.toContain(name);
  const text = (id: number) => answers().get(id).result.content[0].text;
  expect(Object.keys(JSON.parse(text(4)))).toEqual(["inside.txt"]);
  expect(text(4)).toContain("wrong in /workspaces/x/inside.txt");
  for (const id of [5, 6, 7])
    expect(text(id)).toContain("no folder that this Claude and Neovim share");
  for (const id of [3, 8]) expect(answers().get(id).error.message).toStartWith("Unknown tool");
  expect(answers().get(9).error.code).toBe(-32601);
  const all = JSON.stringify(received());
  for (const secret of [neovim.home, neovim.cwd, "secret", 'outside.txt\\"'])
    expect(all).not.toContain(secret);
});

test("so many of its hooks may run at once, and no more", async () => {
  claims("A remote's hooks run our program on shared files only");
  await using neovim = await TestNeovim.start({ version: NEWEST });
  await neovim.lock();
  const most = 2 * LIMITS.channels;
  const frames = Array.from({ length: 2 * most }, (_, index) => [
    { t: "open", ch: 2 * index + 1, kind: "hook", d: hook("session-start", { source: "resume" }) },
    { t: "close", ch: 2 * index + 1 },
  ]).flat();
  const received = await withRelay(neovim, frames);
  await eventually(
    "the refusals",
    () => received().filter(({ t }) => t === "close").length >= most,
  );
});

const buffers = (neovim: TestNeovim) =>
  neovim.lua<string[]>("return vim.tbl_map(vim.api.nvim_buf_get_name, vim.api.nvim_list_bufs())");

test("its hooks load no file", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST });
  await neovim.lock();
  const path = join(neovim.cwd, "closed.txt");
  writeFileSync(path, "text\n");
  const edited = { tool_name: "Edit", tool_input: { file_path: "/workspaces/x/closed.txt" } };
  const hooks = [hook("post-tool-use", edited), hook("stop", {})];
  const opens = hooks.map((d, index) => ({ t: "open", ch: 2 * index + 1, kind: "hook", d }));
  const received = await withRelay(neovim, opens);
  await eventually("both", () => received().filter(({ t }) => t === "close").length === 2);
  expect(await buffers(neovim)).not.toContain(path);
});

test("a held Stop says nothing of files that are not shared", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST });
  await neovim.lock();
  const [inside, outside] = [join(neovim.cwd, "inside.txt"), join(neovim.home, "outside.txt")];
  for (const path of [inside, outside]) {
    writeFileSync(path, "text\n");
    // As the comparison of a work tree around the shared folder reports it.
    await neovim.lua(
      `local path, cwd = ...
       vim.cmd.edit(path)
       vim.diagnostic.set(vim.api.nvim_create_namespace("t"), 0, {
         { lnum = 0, col = 0, severity = 1, message = "wrong in " .. path } })
       require("claude-code.editor").call("session_edited", {
         session = "s", installation = "neovim", path = path, cwd = cwd, remote = "dev" })`,
      path,
      neovim.cwd,
    );
  }
  const stop = hook("stop", { prompt_id: "p" });
  const received = await withRelay(neovim, [{ t: "open", ch: 1, kind: "hook", d: stop }]);
  await eventually("the end", () => received().some(({ t }) => t === "close"));
  const { reason } = JSON.parse(received().find(({ t }) => t === "data")?.d ?? "");
  expect(reason).toContain("inside.txt:1:1 error: wrong in /workspaces/x/inside.txt");
  for (const text of [neovim.home, "outside.txt", neovim.cwd]) expect(reason).not.toContain(text);
});

test("its tools load no file, and get nothing of a session of here, or of what a link led to", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST });
  await neovim.lock();
  const [closed, open] = ["closed.txt", "open.txt"].map((name) => join(neovim.cwd, name));
  for (const path of [closed, open]) writeFileSync(path as string, "text\n");
  const linked = join(neovim.cwd, "linked.txt");
  writeFileSync(join(neovim.home, "secret"), "SECRET\n");
  symlinkSync(join(neovim.home, "secret"), linked);
  await eventually("the executable", () =>
    neovim.lua<boolean>('return require("claude-code.server.channel").is_attached()'),
  );
  await neovim.command(`edit ${linked}`);
  rmSync(linked);
  writeFileSync(linked, "text\n");
  await neovim.lua(
    `local path = ...
     vim.cmd.edit(path)
     vim.diagnostic.set(vim.api.nvim_create_namespace("t"), 0, { { lnum = 0, col = 0, message = "wrong" } })
     require("claude-code.editor").call("session_edited", {
       session = "of-here", installation = "neovim", path = path, cwd = vim.fn.getcwd() })`,
    open,
  );
  const there = (name: string) => `/workspaces/x/${name}`;
  const tools: [string, object][] = [
    ["get_diagnostics", { file_paths: there("closed.txt") }],
    ["outline", { path: there("closed.txt") }],
    ["find_symbol", { symbol: "text", path: there("closed.txt") }],
    ["find_symbol", { symbol: "text" }],
    ["get_session_diagnostics", {}],
    ["get_diagnostic_context", { file_path: there("linked.txt"), line: 1 }],
    ["get_diagnostic_context", { file_path: there("open.txt"), line: 1 }],
  ];
  const calls = tools.map(([name, args], id) => ({
    ...{ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } },
  }));
  const received = await withRelay(neovim, [
    { t: "open", ch: 5, kind: "mcp", d: opening("mcp", {}) },
    ...calls.map((one) => ({ t: "data", ch: 5, d: JSON.stringify(one) })),
  ]);
  const answers = () => received().filter(({ ch, t }) => ch === 5 && t === "data");
  await eventually("all answers", () => answers().length === calls.length, 30_000);
  expect(await buffers(neovim)).not.toContain(closed);
  const text = (id: number) =>
    answers()
      .map(({ d }) => JSON.parse(d ?? ""))
      .find((one) => one.id === id).result.content[0].text;
  expect(text(0)).toContain("is not open in Neovim");
  for (const id of [1, 2]) expect(text(id)).toContain("is not open in Neovim");
  expect(text(4)).toBe("{}");
  expect(text(5)).toContain("File not open");
  expect(JSON.parse(text(6)).context.lines).toEqual(["text"]);
  expect(JSON.stringify(received())).not.toContain("SECRET");
}, 60_000);

test("relay --check says what is wrong there, and whether a relay runs", async () => {
  using world = new World();
  const check = async (env: Record<string, string> = {}) => {
    const child = Bun.spawn([EXECUTABLE, "relay", "--check"], {
      env: { ...isolatedEnv(world.home), PATH: "/usr/bin:/bin", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    return { text: await new Response(child.stdout).text(), code: await child.exited };
  };
  const before = await check({
    http_proxy: "http://proxy",
    TERM_PROGRAM: "vscode",
    CLAUDE_CONFIG_DIR: "/proc/x",
  });
  expect(before.code).toBe(1);
  for (const what of [
    "FAIL  the Claude CLI `claude` is not on $PATH",
    "http_proxy is set, and no_proxy does not exempt 127.0.0.1",
    "TERM_PROGRAM is vscode",
    "note  no relay runs here",
  ])
    expect(before.text).toContain(what);
  world.link();
  const { port } = await world.lock();
  expect((await check()).text).toContain(
    `ok    a relay runs here, on port ${port}, for ${world.project}`,
  );
});

test("doctor names a relay that does not run, with what helps", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST });
  await neovim.lock();
  await neovim.lua(`
    require("claude-code").setup({ terminal = { remote = "dev" }, remotes = { dev = {
      command = { "/bin/sh", "-c", "exec cat", "{env}", "{args}" },
      relay = { "no-such-docker", "exec", "-i", "dev", "claude-code-nvim", "relay", "--stdio" } } } })
    vim.cmd("Claude")`);
  const findings = async () => {
    const child = Bun.spawn([EXECUTABLE, "doctor", "--json"], {
      cwd: neovim.cwd,
      env: isolatedEnv(neovim.home),
      stdio: ["ignore", "pipe", "ignore"],
    });
    const { findings } = JSON.parse(await new Response(child.stdout).text());
    return findings as { cause?: string; what: string; remedy?: string }[];
  };
  await eventually("the finding", async () => {
    expect(await findings()).toContainEqual({
      level: "error",
      cause: "remote-down",
      what: expect.stringContaining("remote dev: down, `no-such-docker` is not on $PATH"),
      remedy: expect.stringContaining("remotes.dev.relay with `--check`"),
    } as never);
  });
});
