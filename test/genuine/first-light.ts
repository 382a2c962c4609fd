import { afterEach, beforeAll, beforeEach, expect } from "bun:test";
import type { NeovimVersion } from "#test";
import { type ModelRequest, newsText } from "../support/model-request";
import { edit, read } from "../support/turns";
import { Bench } from "./bench";
import { eventually } from "./eventually";
import type { Layout } from "./neovim";

/* Quoted from the CLI (Claude Code 2.1.330). */
export const UPDATED = "has been updated successfully. (file state is current in your context";
export const MODIFIED = "The user modified your proposed changes before accepting them.";
export const REJECTED = "The user doesn't want to proceed with this tool use";

const FILLER = Array.from({ length: 80 }, (_, line) => `-- line ${line + 3}`).join("\n");
const MAIN = `local M = {}\nM.name = "zero"\n${FILLER}\nreturn M\n`;

/** The genuine CLI beside a Neovim with windows of uneven sizes, which every case leaves as they were. */
export class FirstLight extends Bench {
  constructor(version: NeovimVersion) {
    super({ version, files: { "main.lua": MAIN, "other.lua": "return {}\n" } });
    let before: Layout;

    beforeAll(async () => {
      // A layout that is easily lost: uneven windows, a scrolled view, a cursor in the middle.
      await this.neovim.terminal.type(":botright split | resize 7\r:wincmd t\r40Gzt5l");
      const place = () =>
        this.neovim.lua("return { vim.fn.winnr('$'), vim.fn.line('.'), vim.fn.col('.') }");
      await eventually(place, [3, 40, 6]);
    });

    beforeEach(async () => {
      await this.claude.recover();
      await eventually(() => this.neovim.diff(), null);
      before = await this.neovim.layout();
    });

    afterEach(async () => {
      await eventually(() => this.neovim.layout(), before);
      expect(await this.neovim.terminal.screen()).not.toMatch(/Press ENTER|W1[0-9]:|E\d+:/);
    });
  }

  get main(): string {
    return this.path("main.lua");
  }

  /** The CLI writes after the answer, and Neovim shows it after that. */
  async expectWritten(text: string): Promise<void> {
    await eventually(() => this.onDisk("main.lua"), text);
    await eventually(() => this.neovim.buffer(this.main), { text, modified: false });
  }

  /** Claude edits the main file; returns the proposal once Neovim shows it. */
  async propose(from: string, to: string): Promise<string> {
    this.model.script([read(this.main), edit(this.main, from, to), [{ text: "Done." }]]);
    const proposal = (await this.onDisk("main.lua")).replace(from, to);
    await this.claude.prompt("Change the name");
    await this.shown(proposal);
    return proposal;
  }

  /** Waits until Neovim shows the diff, and puts the cursor on the proposed side. */
  async shown(proposal: string, windows = 2): Promise<void> {
    const { neovim, claude } = this;
    const diff = await neovim.waitForDiff(proposal).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await claude.editorLog()}`);
    });
    expect(diff.windows).toBe(windows);
    await neovim.focus(diff.proposed.window);
  }

  received(words: string): Promise<ModelRequest> {
    return this.model.nextRequest((request) => newsText(request).includes(words));
  }

  /** After a rejection the turn ends without a request; the next prompt contains the rejection. */
  async expectModelToReceive(words: string): Promise<void> {
    this.model.script([[{ text: "Understood." }]]);
    await this.claude.prompt("Go on");
    expect(newsText(await this.model.nextRequest())).toContain(words);
    await this.claude.waitForIdle();
  }
}
