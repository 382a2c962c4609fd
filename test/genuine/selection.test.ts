import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEWEST } from "../support/toolchain";
import { type Bench, startBench } from "./bench";
import { eventually } from "./eventually";

/*
 * The genuine CLI (Claude Code 2.1.330) and a real Neovim, each in a real terminal: what is selected
 * there shows here, and reaches the model. What the CLI shows and sends is quoted from it. Only the
 * newest Neovim: what each sends is the subject of test/editor/selection.
 */
const MAIN = "local M = {}\n\nfunction M.hello()\n  return 'hello'\nend\n\nreturn M\n";
const FUNCTION = "function M.hello()\n  return 'hello'\nend";
const CASE_MS = 90_000;

requireNamespace();
describe("the selection", selection);

function selection() {
  let bench: Bench;
  let main: string;

  beforeAll(async () => {
    bench = await startBench(NEWEST, { "main.lua": MAIN });
    main = join(bench.project, "main.lua");
  }, CASE_MS);

  afterAll(() => bench?.dispose());

  beforeEach(async () => {
    await bench.claude.recover();
    await bench.neovim.terminal.press("C-\\", "C-n");
    await bench.neovim.lua(`
      vim.cmd("silent only! | edit ${main}")
      vim.api.nvim_win_set_cursor(0, { 1, 0 })
      return true`);
    await bench.claude.terminal.waitFor("⧉ In main.lua");
  }, CASE_MS);

  const selectFunction = () => bench.neovim.terminal.type("3GVjj");
  const shown = (lines: number) => bench.claude.terminal.waitFor(`⧉ ${lines} lines selected`);

  /** Sends a prompt and returns what the model receives with it. */
  async function received(prompt: string): Promise<string> {
    bench.model.script([[{ text: "Understood." }]]);
    await bench.claude.prompt(prompt);
    const said = newsText(await bench.model.nextRequest());
    expect(said).toContain(prompt);
    await bench.claude.waitForIdle();
    return said;
  }

  const selected = () => `The user selected the lines 3 to 5 from ${main}:\n${FUNCTION}`;

  test(
    "the prompt box counts the lines, and the model reads them, prompt after prompt",
    async () => {
      await selectFunction();
      await shown(3);
      expect(await received("What is this?")).toContain(selected());
      await shown(3);
      expect(await received("And what is it for?")).toContain(selected());
      await shown(3);
    },
    CASE_MS,
  );

  test(
    "an empty last line counts as one",
    async () => {
      await bench.neovim.terminal.type("3GVjjj");
      await shown(4);
      const lines = `The user selected the lines 3 to 6 from ${main}:\n${FUNCTION}\n\n`;
      expect(await received("What is this?")).toContain(lines);
    },
    CASE_MS,
  );

  test(
    "also after /clear",
    async () => {
      await selectFunction();
      await shown(3);
      await bench.claude.prompt("/clear");
      await bench.claude.waitForIdle();
      await shown(3);
      expect(await received("Once more: what is this?")).toContain(selected());
    },
    CASE_MS,
  );

  test(
    "selected, left and gone to a terminal before anything was sent",
    async () => {
      const { terminal } = bench.neovim;
      await terminal.type(":botright split | terminal");
      await terminal.press("Enter");
      await terminal.type(":wincmd t");
      await terminal.press("Enter");
      await terminal.type("3GVjj");
      await terminal.press("Escape", "C-w", "b");
      await terminal.type("i");
      await terminal.type("echo in the terminal");
      await shown(3);
      expect(await received("What is selected?")).toContain(selected());
      await terminal.press("C-\\", "C-n");
    },
    CASE_MS,
  );

  test(
    "the cursor alone: the model learns of the open file",
    async () => {
      await bench.neovim.terminal.type("j");
      const said = await received("Where am I?");
      expect(said).toContain(`The user opened the file ${main} in the IDE`);
      expect(said).not.toContain("The user selected");
    },
    CASE_MS,
  );

  test(
    "a private file: the model receives nothing of it",
    async () => {
      await bench.neovim.lua(`vim.fn.writefile({ "TOKEN=very-secret-value" }, ".env") return true`);
      await bench.neovim.terminal.type(":split .env");
      await bench.neovim.terminal.press("Enter");
      await bench.neovim.terminal.type("ggVG");
      await bench.neovim.terminal.waitFor("-- VISUAL LINE --");
      await Bun.sleep(500);
      const said = await received("What do you see?");
      expect(said).not.toContain("very-secret-value");
      expect(said).not.toContain(".env");
    },
    CASE_MS,
  );

  test(
    ":3,5Claude mention puts the lines into the prompt, and the model reads them",
    async () => {
      const { terminal } = bench.neovim;
      await terminal.type(":3,5Claude mention");
      await terminal.press("Enter");
      await bench.claude.terminal.waitFor("@main.lua#L3-5");
      bench.model.script([[{ text: "Understood." }]]);
      await bench.claude.terminal.type("explain this");
      await bench.claude.terminal.waitFor("@main.lua#L3-5 explain this");
      await bench.claude.terminal.press("Enter");
      const said = newsText(await bench.model.nextRequest());
      expect(said).toContain("@main.lua#L3-5 explain this");
      expect(said).toContain("3\tfunction M.hello()");
      await bench.claude.waitForIdle();
    },
    CASE_MS,
  );

  test(
    "a mention that was made before the CLI connected arrives when it does",
    async () => {
      const { claude, neovim } = bench;
      await claude.close();
      await eventually(
        () => neovim.lua<number>(`return #require("claude-code").status().clients`),
        0,
      );
      await neovim.terminal.type(":4Claude mention");
      await neovim.terminal.press("Enter");
      await neovim.terminal.waitFor("waits for Claude to connect");
      await bench.startClaude();
      await bench.claude.terminal.waitFor("@main.lua#L4");
      await bench.claude.terminal.press("C-u");
    },
    CASE_MS,
  );
}
