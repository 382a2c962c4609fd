import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS } from "../support/toolchain";
import { say } from "../support/turns";
import { type Bench, startBench } from "./bench";

/*
 * Comments for the genuine CLI (Claude Code 2.1.330) in another terminal than Neovim's. Only the model
 * is a stand-in.
 */
const CASE_MS = 90_000;

requireNamespace();

describe.each(NEOVIMS.slice(-1))("$name", (version) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await startBench(version, { "main.lua": "local one = 1\nreturn one\n" });
  }, CASE_MS);
  afterAll(() => bench?.dispose(), CASE_MS);

  test(
    "the model receives the comments with the prompt in which they are mentioned, and once",
    async () => {
      const { neovim, claude, model } = bench;
      await neovim.lua("vim.cmd('1Claude comment! a better name') return true");
      await claude.terminal.waitFor(/@ide:review:comments/);
      model.script([say("First.")]);
      await claude.terminal.press("Enter");
      const received = newsText(await model.nextRequest());
      expect(received).toContain("1. main.lua:1: a better name\n   > local one = 1");
      await claude.waitForIdle();
      await neovim.lua("vim.cmd('Claude comment!') return true");
      await neovim.terminal.waitFor(/there is no comment to send/);
    },
    CASE_MS,
  );
});
