import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { NeovimVersion } from "#test";
import type { Model } from "../support/model";
import { type ModelRequest, newsText } from "../support/model-request";
import { edit, read } from "../support/turns";
import { type Bench, startBench } from "./bench";
import { eventually } from "./eventually";
import type { Layout } from "./neovim";

/* Quoted from the CLI (Claude Code 2.1.330). */
export const UPDATED = "has been updated successfully. (file state is current in your context";
export const MODIFIED = "The user modified your proposed changes before accepting them.";
export const REJECTED = "The user doesn't want to proceed with this tool use";

const FILLER = Array.from({ length: 80 }, (_, line) => `-- line ${line + 3}`).join("\n");
const MAIN = `local M = {}\nM.name = "zero"\n${FILLER}\nreturn M\n`;

/** The genuine CLI beside a Neovim with windows of uneven sizes, which every case leaves as they were. */
export class FirstLight {
  bench!: Bench;
  main!: string;

  private constructor() {}

  static inBlock(version: NeovimVersion): FirstLight {
    const light = new FirstLight();
    let before: Layout;

    beforeAll(async () => {
      const files = { "main.lua": MAIN, "other.lua": "return {}\n" };
      light.bench = await startBench(version, files);
      light.main = join(light.bench.project, "main.lua");
      const { neovim } = light.bench;
      // A layout with something to lose: uneven windows, a scrolled view, a cursor in the middle.
      await neovim.terminal.type(":botright split | resize 7\r:wincmd t\r40Gzt5l");
      const place = () =>
        neovim.lua("return { vim.fn.winnr('$'), vim.fn.line('.'), vim.fn.col('.') }");
      await eventually(place, [3, 40, 6]);
    });

    afterAll(() => light.bench?.dispose());

    beforeEach(async () => {
      await light.bench.claude.recover();
      await eventually(() => light.bench.neovim.diff(), null);
      before = await light.bench.neovim.layout();
    });

    afterEach(async () => {
      const { neovim } = light.bench;
      await eventually(() => neovim.layout(), before);
      expect(await neovim.terminal.screen()).not.toMatch(/Press ENTER|W1[0-9]:|E\d+:/);
    });

    return light;
  }

  get model(): Model {
    return this.bench.model;
  }

  onDisk(file = this.main): Promise<string> {
    return readFile(file, "utf8");
  }

  press(key: string): Promise<void> {
    return this.bench.neovim.terminal.press(key);
  }

  /** The CLI writes after the answer, and Neovim shows it after that. */
  async expectWritten(text: string): Promise<void> {
    await eventually(() => this.onDisk(), text);
    await eventually(() => this.bench.neovim.buffer(this.main), { text, modified: false });
  }

  /** Claude edits the main file; returns the proposal once Neovim shows it. */
  async propose(from: string, to: string): Promise<string> {
    this.model.script([read(this.main), edit(this.main, from, to), [{ text: "Done." }]]);
    const proposal = (await this.onDisk()).replace(from, to);
    await this.bench.claude.prompt("Change the name");
    await this.shown(proposal);
    return proposal;
  }

  /** Waits until Neovim shows the diff, and puts the cursor on the proposed side. */
  async shown(proposal: string, windows = 2): Promise<void> {
    const { neovim, claude } = this.bench;
    const diff = await neovim.waitForDiff(proposal).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await claude.editorLog()}`);
    });
    expect(diff.windows).toBe(windows);
    await neovim.focus(diff.proposed.window);
  }

  received(words: string): Promise<ModelRequest> {
    return this.model.nextRequest((request) => newsText(request).includes(words));
  }

  /** After a rejection the turn ends without a request; the next prompt carries the news. */
  async expectModelToReceive(words: string): Promise<void> {
    this.model.script([[{ text: "Understood." }]]);
    await this.bench.claude.prompt("Go on");
    expect(newsText(await this.model.nextRequest())).toContain(words);
    await this.bench.claude.waitForIdle();
  }
}
