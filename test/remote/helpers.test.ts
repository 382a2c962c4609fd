import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import {
  claims,
  EXECUTABLE,
  eventually,
  isolatedEnv,
  NEWEST,
  perTest,
  run,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { join } from "../../src/lib/platform";
import { LIMITS } from "../../src/remote/wire";
import { remotesOption } from "../support/remote";
import { type Frame, HELLO, STAND_IN, scriptedRelay, World } from "./world";

const neovim = perTest(() => TestNeovim.start({ version: NEWEST }));
beforeEach(async () => {
  await neovim.lock();
});

/** Gives Neovim a relay that sends these frames, and returns a way to read what the relay receives. */
async function withRelay(frames: object[]): Promise<() => Frame[]> {
  const script = `for (const one of ${JSON.stringify([HELLO, ...frames])}) say(one)`;
  const { command, got } = scriptedRelay(temporaryFolder(), script);
  const mappings = { "/workspaces/x": neovim.cwd };
  const remote = { command: STAND_IN, relay: command, path_mappings: mappings };
  await neovim.lua(`
    require("claude-code").setup({ terminal = { remote = "dev" }, ${remotesOption(remote)} })
    vim.cmd("Claude")`);
  // The others are Neovim's: it asks for the conversation.
  return () => got().filter(({ ch }) => ch % 2 === 1);
}

const opening = (kind: string, fields: object) =>
  JSON.stringify({ kind, args: [], cwd: "/workspaces/x", env: {}, ...fields });
const hook = (event: string, input: object, fields = {}) =>
  opening("hook", {
    args: [event],
    input: JSON.stringify({ session_id: "s", cwd: "/workspaces/x", ...input }),
    ...fields,
  });

const opens = (hooks: string[]) =>
  hooks.map((d, i) => ({ t: "open", ch: 2 * i + 1, kind: "hook", d }));
const closed = (frames: Frame[]) => frames.filter(({ t }) => t === "close").length;

const call = (name: string, args: object) => ({
  method: "tools/call",
  params: { name, arguments: args },
});
async function answersTo(requests: object[]) {
  const data = requests.map((one, id) => JSON.stringify({ jsonrpc: "2.0", id, ...one }));
  const received = await withRelay([
    { t: "open", ch: 1, kind: "mcp", d: opening("mcp", {}) },
    ...data.map((d) => ({ t: "data", ch: 1, d })),
  ]);
  const answers = () => received().flatMap(({ d }) => (d ? [JSON.parse(d)] : []));
  await eventually("all answers", () => answers().length === requests.length, 30_000);
  const all = answers().sort((a, b) => a.id - b.id);
  const text = (id: number) => all[id].result.content[0].text;
  return { all, text, received: JSON.stringify(received()) };
}

const DEEP = "[".repeat(100_000) + "]".repeat(100_000);

test("runs only hooks of Claude Code, only in shared folders", async () => {
  claims("A remote's hooks run our program on shared files only");
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
  const received = await withRelay(opens([...refused, hook("stop", {})]));
  await eventually("all channels are closed", () => closed(received()) === refused.length + 1);
  const answers = received().filter(({ t }) => t === "data");
  expect(answers.map(({ ch }) => ch)).toEqual([2 * refused.length + 1]);
  expect(JSON.parse(answers[0]?.d ?? "")).toMatchObject({ continue: true });
});

test("limits how many of its hooks run at once", async () => {
  claims("A remote's hooks run our program on shared files only");
  const most = 2 * LIMITS.channels;
  const frames = Array.from({ length: 2 * most }, (_, index) => [
    { t: "open", ch: 2 * index + 1, kind: "hook", d: hook("session-start", { source: "resume" }) },
    { t: "close", ch: 2 * index + 1 },
  ]).flat();
  const received = await withRelay(frames);
  // How many are refused depends on how soon the first ones end.
  await eventually("the refusals", () => closed(received()) > 0);
});

test("does not load files in its hooks", async () => {
  const path = join(neovim.cwd, "closed.txt");
  writeFileSync(path, "text\n");
  const edited = { tool_name: "Edit", tool_input: { file_path: "/workspaces/x/closed.txt" } };
  const received = await withRelay(opens([hook("post-tool-use", edited), hook("stop", {})]));
  await eventually("both", () => closed(received()) === 2);
  expect(await neovim.buffers()).not.toContain(path);
});

test("names only shared files when it holds a Stop", async () => {
  const [inside, outside] = [join(neovim.cwd, "inside.txt"), join(neovim.home, "outside.txt")];
  for (const path of [inside, outside]) {
    writeFileSync(path, "text\n");
    // The comparison of a work tree around the shared folder reports the same.
    await neovim.lua(
      `local path, cwd = ...
       vim.cmd.edit(path)
       vim.diagnostic.set(vim.api.nvim_create_namespace("t"), 0, {
         { lnum = 0, col = 0, severity = 1, message = "wrong in " .. path } })
       require("claude-code.editor").call("session_edited", {
         session = "s", path = path, cwd = cwd, remote = "dev" })`,
      path,
      neovim.cwd,
    );
  }
  const received = await withRelay(opens([hook("stop", { prompt_id: "p" })]));
  await eventually("the end", () => closed(received()) === 1);
  const { reason } = JSON.parse(received().find(({ t }) => t === "data")?.d ?? "");
  expect(reason).toContain("inside.txt:1:1 error: wrong in /workspaces/x/inside.txt");
  for (const text of [neovim.home, "outside.txt", neovim.cwd]) expect(reason).not.toContain(text);
});

test("reads only shared files through its MCP server", async () => {
  claims("A remote calls a closed list of tools");
  const [open, linked] = ["open.txt", "linked.txt"].map((name) => join(neovim.cwd, name));
  const [outside, secret] = ["outside.txt", "secret"].map((name) => join(neovim.home, name));
  for (const path of [open, outside]) writeFileSync(path as string, "text\n");
  writeFileSync(secret as string, "SECRET\n");
  symlinkSync(secret as string, linked as string);
  await neovim.until(
    "the executable",
    'return require("claude-code.server.channel").is_attached()',
  );
  await neovim.command(`edit ${linked}`);
  rmSync(linked as string);
  writeFileSync(linked as string, "text\n");
  await neovim.lua(
    `for _, path in ipairs({ ... }) do
       vim.cmd.edit(path)
       vim.diagnostic.set(vim.api.nvim_create_namespace("t"), 0, {
         { lnum = 0, col = 0, message = "wrong in " .. path } })
       require("claude-code.editor").call("session_edited", {
         session = "of-here", installation = "neovim", path = path, cwd = vim.fn.getcwd() })
     end`,
    outside,
    open,
  );
  const there = (name: string) => `/workspaces/x/${name}`;
  const clientInfo = { name: "c", version: "1" };
  const { all, text, received } = await answersTo([
    { method: "initialize", params: { protocolVersion: "2025-06-18", clientInfo } },
    { method: "tools/list" },
    { method: "resources/list" },
    call("rename_symbol", { symbol: "x", new_name: "y" }),
    call("get_diagnostics", {}),
    call("get_diagnostics", { file_paths: ["../outside.txt"] }),
    call("get_session_diagnostics", {}),
    call("get_diagnostic_context", { file_path: there("linked.txt"), line: 1 }),
    call("get_diagnostic_context", { file_path: there("open.txt"), line: 1 }),
  ]);
  expect(all[1].result.tools).toContainEqual(expect.objectContaining({ name: "find_symbol" }));
  expect(all[2].error.code).toBe(-32601);
  expect(all[3].error.message).toStartWith("Unknown tool");
  expect(Object.keys(JSON.parse(text(4)))).toEqual(["open.txt"]);
  expect(text(4)).toContain(`wrong in ${there("open.txt")}`);
  expect(text(5)).toContain("no folder that this Claude and Neovim share");
  expect(text(6)).toBe("{}");
  expect(text(7)).toContain("File not open");
  expect(JSON.parse(text(8)).context.lines).toEqual(["text"]);
  for (const one of [neovim.home, neovim.cwd, "SECRET", 'outside.txt\\"'])
    expect(received).not.toContain(one);
}, 60_000);

test("reports through doctor there whether a relay runs", async () => {
  using world = new World();
  const env = { ...isolatedEnv(world.home), PATH: "/usr/bin:/bin" };
  const check = async () => (await run([EXECUTABLE, "doctor"], { cwd: world.project, env })).stdout;
  expect(await check()).toContain("no running Neovim serves Claude here");
  world.link();
  const { port } = await world.lock();
  expect(await check()).toContain(
    `ok    a CLI that you start here finds a relay of Neovim on port ${port}`,
  );
});
