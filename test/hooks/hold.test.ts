import { eventually, NEOVIMS, perBlock } from "#test";
import { Calls } from "./calls";
import { Project } from "./project";

const EDIT = { file_path: "config.ts" };

/* Claude is about to edit a file in which the user has unsaved edits at the same place. */
describe.each(NEOVIMS)("an edit in $name", (version) => {
  /** This has the whole message. */
  const UI = { width: 80, height: 24 };

  const project = perBlock(() => Project.open(version, "{}", undefined, UI));
  beforeAll(async () => {
    await project.hook("session-start", { source: "startup" });
  });

  const lua = <T>(code: string) => project.neovim.lua<T>(code);
  const messages = () => lua<string>("return vim.fn.execute('messages')");

  async function unsaved(): Promise<string> {
    const path = project.write("config.ts", "one\ntwo\nthree\nfour\n");
    await lua("vim.cmd.messages('clear')");
    await project.neovim.command(`edit! ${path}`);
    await project.neovim.type("ggomine<Esc>");
    return path;
  }

  const begins = (path: string, more: object = {}) => {
    const change = { old_string: "one\n", new_string: "ONE\n" };
    const tool = { tool_name: "Edit", tool_input: { file_path: path, ...change } };
    return project.hook("pre-edit", { permission_mode: "acceptEdits", ...tool, ...more });
  };

  const waits = () =>
    eventually("the message", async () =>
      (await messages()).includes(
        ":w or :Claude go-on lets Claude edit config.ts, where you have unsaved lines",
      ),
    );

  const status = () => lua<string>('return require("claude-code").statusline()');

  test("waits for :w, and Claude has to read the file again", async () => {
    const hook = begins(await unsaved());
    await waits();
    expect(await status()).toContain(", waits for config.ts");
    await project.neovim.type(":w<CR>");
    expect((await hook).output).toEqual({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason:
          "The user has just saved config.ts with changes of their own. " +
          "Read it again, then make your edit.",
      },
    });
  });

  test("lets two Claudes wait for one :w, and then continue", async () => {
    const path = await unsaved();
    const calls = await Calls.count(project);
    const hooks = [begins(path), begins(path)];
    // Both may share one message.
    await eventually("both wait", async () => (await calls.of("task_start")) === 2);
    await waits();
    await project.neovim.type(":w<CR>");
    const outputs = await Promise.all(hooks.map(async (hook) => (await hook).output));
    expect(outputs).toHaveLength(2);
    for (const output of outputs) {
      expect(output).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } });
    }
  });

  test.each([
    ["a write of a copy, and an undo", ":w! copy.ts<CR>u"],
    ["a reload", ":edit!<CR>"],
    ["a buffer that is closed", ":bwipeout!<CR>"],
    [":Claude go-on", ":Claude go-on<CR>"],
  ])("goes on after %s", async (_name, typed) => {
    const hook = begins(await unsaved());
    await waits();
    await project.neovim.type(typed);
    expect((await hook).output).toBeUndefined();
    expect(await status()).not.toContain("waits");
    const left = "return vim.fn.getcompletion('claude-code.hold', 'augroup')";
    expect(await lua<string[]>(left)).toEqual([]);
  });

  const replaces = (old_string: string) => ({
    tool_input: { ...EDIT, old_string, new_string: "x" },
  });
  const same = { ...EDIT, content: "one\nmine\ntwo\nthree\nfour\n" };
  test.each([
    ["whom Claude itself asks", { permission_mode: "default" }, ""],
    ["with the option off", {}, "wait_for_unsaved = false"],
    ["of a file without unsaved edits", { tool_input: { file_path: "other.ts" } }, ""],
    ["with an edit elsewhere", replaces("four"), ""],
    ["with an edit that fails", replaces("six"), ""],
    ["with a whole text that has the same edit", { tool_input: same }, ""],
  ])("does not wait for a user %s", async (_name, more, option) => {
    const path = await unsaved();
    await lua(`require("port").config.setup({ ${option} })`);
    expect((await begins(path, more)).output).toBeUndefined();
    expect(await messages()).not.toContain("waits");
    await lua(`require("port").config.setup({})`);
  });

  test.each([
    ["a replacement of all", { old_string: "o", new_string: "0", replace_all: true }],
    ["a text of 1 MB", { content: `${"x".repeat(99)}\n`.repeat(10_000) }],
  ])("waits for %s that conflicts", async (_name, input) => {
    const path = await unsaved();
    const hook = begins(path, { tool_input: { ...EDIT, ...input } });
    await waits();
    await project.neovim.type("u");
    expect((await hook).output).toBeUndefined();
  });

  test("waits once in a turn, and again in the next one", async () => {
    const path = await unsaved();
    const hook = begins(path, { prompt_id: "one" });
    await waits();
    await project.neovim.type(":Claude go-on<CR>");
    expect((await hook).output).toBeUndefined();
    expect((await begins(path, { prompt_id: "one" })).output).toBeUndefined();
    await lua("vim.cmd.messages('clear')");
    const next = begins(path, { prompt_id: "two" });
    await waits();
    await project.neovim.type("u");
    expect((await next).output).toBeUndefined();
  });

  test("does not wait for a user who has been idle for minutes", async () => {
    const path = await unsaved();
    await lua("ADVANCE = require('port').hold_clock() ADVANCE(6 * 60 * 1000)");
    expect((await begins(path)).output).toBeUndefined();
  });
});
