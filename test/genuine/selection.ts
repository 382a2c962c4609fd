import { afterAll, beforeAll, beforeEach, expect } from "bun:test";
import { join } from "node:path";
import { newsText } from "../support/model-request";
import { NEWEST } from "../support/toolchain";
import { type Bench, startBench } from "./bench";

const MAIN = "local M = {}\n\nfunction M.hello()\n  return 'hello'\nend\n\nreturn M\n";
export const FUNCTION = "function M.hello()\n  return 'hello'\nend";

/** The genuine CLI beside a Neovim that shows a file with a function, with the cursor in its first line. */
export class Selected {
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

  /** What the model reads of the function. */
  get text(): string {
    return `The user selected the lines 3 to 5 from ${this.main}:\n${FUNCTION}`;
  }
}
