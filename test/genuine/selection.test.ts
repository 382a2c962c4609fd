import { join } from "node:path";
import { NEWEST, nightly } from "#test";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { type Bench, startBench } from "./bench";
import { eventually } from "./eventually";

const MAIN = "local M = {}\n\nfunction M.hello()\n  return 'hello'\nend\n\nreturn M\n";
const FUNCTION = "function M.hello()\n  return 'hello'\nend";

/** The genuine CLI beside a Neovim that shows a file with a function, with the cursor in its first line. */
class Selected {
  bench!: Bench;
  main!: string;

  private constructor() {}

  /**
   * For the tests of the block around the call. Only the newest Neovim: what each sends is the subject of
   * test/editor/selection.
   */
  static inBlock(): Selected {
    const made = new Selected();

    beforeAll(async () => {
      made.bench = await startBench(NEWEST, { "main.lua": MAIN });
      made.main = join(made.bench.project, "main.lua");
    });

    afterAll(() => made.bench?.dispose());

    beforeEach(async () => {
      const { claude, neovim } = made.bench;
      await claude.recover();
      await neovim.terminal.press("C-\\", "C-n");
      await neovim.lua(`
        vim.cmd("silent only! | edit ${made.main}")
        vim.api.nvim_win_set_cursor(0, { 1, 0 })
        return true`);
      await claude.terminal.waitFor("⧉ In main.lua");
    });

    return made;
  }

  selectFunction(): Promise<void> {
    return this.bench.neovim.terminal.type("3GVjj");
  }

  /** Waits until the CLI counts so many lines. */
  shown(lines: number): Promise<string> {
    return this.bench.claude.terminal.waitFor(`⧉ ${lines} lines selected`);
  }

  /** Sends a prompt and returns what the model receives with it. */
  async received(prompt: string): Promise<string> {
    const { claude, model } = this.bench;
    model.script([[{ text: "Understood." }]]);
    await claude.prompt(prompt);
    const said = newsText(await model.nextRequest());
    expect(said).toContain(prompt);
    await claude.waitForIdle();
    return said;
  }

  /** The function as the model reads it. */
  get text(): string {
    return `The user selected the lines 3 to 5 from ${this.main}:\n${FUNCTION}`;
  }
}

/*
 * The genuine CLI (Claude Code 2.1.330) and a real Neovim, each in a real terminal: what is selected
 * there shows here, and reaches the model. What the CLI shows and sends is quoted from it.
 */
requireNamespace();
describe("the selection", () => {
  const selection = Selected.inBlock();

  test("is counted in the prompt box, and read by the model, prompt after prompt", async () => {
    await selection.selectFunction();
    await selection.shown(3);
    expect(await selection.received("What is this?")).toContain(selection.text);
    await selection.shown(3);
    expect(await selection.received("And what is it for?")).toContain(selection.text);
    await selection.shown(3);
  });

  test("gives the model nothing of a private file", async () => {
    await selection.bench.neovim.lua(
      `vim.fn.writefile({ "TOKEN=very-secret-value" }, ".env") return true`,
    );
    await selection.bench.neovim.terminal.type(":split .env");
    await selection.bench.neovim.terminal.press("Enter");
    await selection.bench.neovim.terminal.type("ggVG");
    await selection.bench.neovim.terminal.waitFor("-- VISUAL LINE --");
    // Nothing tells that nothing is sent.
    await Bun.sleep(500);
    const said = await selection.received("What do you see?");
    expect(said).not.toContain("very-secret-value");
    expect(said).not.toContain(".env");
  });

  test("is put into the prompt by :3,5Claude mention", async () => {
    const { terminal } = selection.bench.neovim;
    await terminal.type(":3,5Claude mention");
    await terminal.press("Enter");
    await selection.bench.claude.terminal.waitFor("@main.lua#L3-5");
    selection.bench.model.script([[{ text: "Understood." }]]);
    await selection.bench.claude.terminal.type("explain this");
    await selection.bench.claude.terminal.waitFor("@main.lua#L3-5 explain this");
    await selection.bench.claude.terminal.press("Enter");
    const said = newsText(await selection.bench.model.nextRequest());
    expect(said).toContain("@main.lua#L3-5 explain this");
    expect(said).toContain("3\tfunction M.hello()");
    await selection.bench.claude.waitForIdle();
  });

  nightly.test("is read also after /clear", async () => {
    await selection.selectFunction();
    await selection.shown(3);
    await selection.bench.claude.prompt("/clear");
    await selection.bench.claude.waitForIdle();
    await selection.shown(3);
    expect(await selection.received("Once more: what is this?")).toContain(selection.text);
  });

  nightly.test("names the open file by the cursor alone", async () => {
    await selection.bench.neovim.terminal.type("j");
    const said = await selection.received("Where am I?");
    expect(said).toContain(`The user opened the file ${selection.main} in the IDE`);
    expect(said).not.toContain("The user selected");
  });

  nightly.test("keeps a mention until the CLI connects", async () => {
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
