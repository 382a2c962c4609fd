import { describe, expect, test } from "bun:test";
import { requireNamespace } from "../support/namespace";
import { eventually } from "./eventually";
import { FUNCTION, Selected } from "./selection";

/* Further selections that reach the genuine CLI (Claude Code 2.1.330). */
requireNamespace();
describe("the selection", () => {
  const selection = Selected.inBlock();

  test("an empty last line counts as one", async () => {
    await selection.bench.neovim.terminal.type("3GVjjj");
    await selection.shown(4);
    const lines = `The user selected the lines 3 to 6 from ${selection.main}:\n${FUNCTION}\n\n`;
    expect(await selection.received("What is this?")).toContain(lines);
  });

  test("also after /clear", async () => {
    await selection.selectFunction();
    await selection.shown(3);
    await selection.bench.claude.prompt("/clear");
    await selection.bench.claude.waitForIdle();
    await selection.shown(3);
    expect(await selection.received("Once more: what is this?")).toContain(selection.text);
  });

  test("selected, left and gone to a terminal before anything was sent", async () => {
    const { terminal } = selection.bench.neovim;
    await terminal.type(":botright split | terminal");
    await terminal.press("Enter");
    await terminal.type(":wincmd t");
    await terminal.press("Enter");
    await terminal.type("3GVjj");
    await terminal.press("Escape", "C-w", "b");
    await terminal.type("i");
    await terminal.type("echo in the terminal");
    await selection.shown(3);
    expect(await selection.received("What is selected?")).toContain(selection.text);
    await terminal.press("C-\\", "C-n");
  });

  test("the cursor alone: the model learns of the open file", async () => {
    await selection.bench.neovim.terminal.type("j");
    const said = await selection.received("Where am I?");
    expect(said).toContain(`The user opened the file ${selection.main} in the IDE`);
    expect(said).not.toContain("The user selected");
  });

  test("a mention that was made before the CLI connected arrives when it does", async () => {
    const { claude, neovim } = selection.bench;
    await claude.close();
    await eventually(
      () => neovim.lua<number>(`return #require("claude-code").status().clients`),
      0,
    );
    await neovim.terminal.type(":4Claude mention");
    await neovim.terminal.press("Enter");
    await neovim.terminal.waitFor("waits for Claude to connect");
    await selection.bench.startClaude();
    await selection.bench.claude.terminal.waitFor("@main.lua#L4");
    await selection.bench.claude.terminal.press("C-u");
  });
});
