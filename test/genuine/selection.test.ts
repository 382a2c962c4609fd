import { NEWEST, nightly } from "#test";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { Bench } from "./bench";
import { eventually } from "./eventually";

const MAIN = "local M = {}\n\nfunction M.hello()\n  return 'hello'\nend\n\nreturn M\n";
const FUNCTION = "function M.hello()\n  return 'hello'\nend";

/** The genuine CLI beside a Neovim that shows a file with a function, with the cursor in its first line. */
class Selected extends Bench {
  /** Only the newest Neovim: test/editor/selection has what each sends. */
  constructor() {
    super({ version: NEWEST, files: { "main.lua": MAIN } });

    beforeEach(async () => {
      await this.claude.recover();
      await this.neovim.terminal.press("C-\\", "C-n");
      await this.neovim.lua(`
        vim.cmd("silent only! | edit ${this.path("main.lua")}")
        vim.api.nvim_win_set_cursor(0, { 1, 0 })
        return true`);
      await this.claude.terminal.waitFor("⧉ In main.lua");
    });
  }

  selectFunction(): Promise<void> {
    return this.neovim.terminal.type("3GVjj");
  }

  /** Waits until the CLI counts this many lines. */
  shown(lines: number): Promise<string> {
    return this.claude.terminal.waitFor(`⧉ ${lines} lines selected`);
  }

  /** Sends a prompt and returns what the model receives with it. */
  async received(prompt: string): Promise<string> {
    const { claude, model } = this;
    model.script([[{ text: "Understood." }]]);
    await claude.prompt(prompt);
    const said = newsText(await model.nextRequest());
    expect(said).toContain(prompt);
    await claude.waitForIdle();
    return said;
  }

  /** The function as the model reads it. */
  get text(): string {
    return `The user selected the lines 3 to 5 from ${this.path("main.lua")}:\n${FUNCTION}`;
  }
}

/*
 * The genuine CLI (Claude Code 2.1.330) and a real Neovim, each in a real terminal: the CLI shows what is selected in
 * Neovim, and the model receives it. The CLI's text and requests are quoted from it.
 */
requireNamespace();
describe("the selection", () => {
  const selection = new Selected();

  test("is counted in the prompt box, and read by the model, prompt after prompt", async () => {
    await selection.selectFunction();
    await selection.shown(3);
    expect(await selection.received("What is this?")).toContain(selection.text);
    await selection.shown(3);
    expect(await selection.received("And what is it for?")).toContain(selection.text);
    await selection.shown(3);
  });

  test("gives the model no part of a private file", async () => {
    await selection.neovim.lua(
      `vim.fn.writefile({ "TOKEN=very-secret-value" }, ".env") return true`,
    );
    await selection.neovim.terminal.type(":split .env");
    await selection.neovim.terminal.press("Enter");
    await selection.neovim.terminal.type("ggVG");
    await selection.neovim.terminal.waitFor("-- VISUAL LINE --");
    // No event shows that nothing is sent.
    await Bun.sleep(500);
    const said = await selection.received("What do you see?");
    expect(said).not.toContain("very-secret-value");
    expect(said).not.toContain(".env");
  });

  test("is put into the prompt by :3,5Claude mention", async () => {
    const { terminal } = selection.neovim;
    await terminal.type(":3,5Claude mention");
    await terminal.press("Enter");
    await selection.claude.terminal.waitFor("@main.lua#L3-5");
    selection.model.script([[{ text: "Understood." }]]);
    await selection.claude.terminal.type("explain this");
    await selection.claude.terminal.waitFor("@main.lua#L3-5 explain this");
    await selection.claude.terminal.press("Enter");
    const said = newsText(await selection.model.nextRequest());
    expect(said).toContain("@main.lua#L3-5 explain this");
    expect(said).toContain("3\tfunction M.hello()");
    await selection.claude.waitForIdle();
  });

  nightly.test("is still read after /clear", async () => {
    await selection.selectFunction();
    await selection.shown(3);
    await selection.claude.prompt("/clear");
    await selection.claude.waitForIdle();
    await selection.shown(3);
    expect(await selection.received("Once more: what is this?")).toContain(selection.text);
  });

  nightly.test("names the open file by the cursor alone", async () => {
    await selection.neovim.terminal.type("j");
    const said = await selection.received("Where am I?");
    expect(said).toContain(`The user opened the file ${selection.path("main.lua")} in the IDE`);
    expect(said).not.toContain("The user selected");
  });

  nightly.test("keeps a mention until the CLI connects", async () => {
    const { claude, neovim } = selection;
    await claude.close();
    await eventually(
      () => neovim.lua<number>(`return #require("claude-code").status().clients`),
      0,
    );
    await neovim.terminal.type(":4Claude mention");
    await neovim.terminal.press("Enter");
    await neovim.terminal.waitFor("waits for Claude to connect");
    selection.claude = await selection.startClaude();
    await selection.claude.terminal.waitFor("@main.lua#L4");
    await selection.claude.terminal.press("C-u");
  });
});
