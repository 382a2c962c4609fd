import { describe, expect, test } from "bun:test";
import { untilAnswered } from "../support/claude";
import { requireNamespace } from "../support/namespace";
import { NEWEST } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { CASE_MS, Kept, START_MS, TEXT } from "./kept";

/* What the CLI (Claude Code 2.1.330) does, whichever Neovim has gone: its server is gone, too. */

/** A CLI that has lost its Neovim tries for 17 s to find it again (measured with 2.1.330). */
const GIVES_UP_MS = 21_000;
/** A question ignores the keys of its first 250 ms or so (measured with Claude Code 2.1.330). */
const QUESTION_MS = 600;

requireNamespace();
describe("a Claude that is left in tmux", () => {
  const kept = Kept.inBlock(NEWEST);

  test(
    "by kill -9 of Neovim and its server with a diff on screen: asks in its pane",
    async () => {
      kept.model.script([read(kept.file), edit(kept.file, "one", "eins"), say("Done.")]);
      await kept.neovim.command("Claude send! change it");
      await kept.diffShown();
      const server = await kept.neovim.lua<number>(`return require("port").server.process.pid`);
      process.kill(server, "SIGKILL");
      await kept.kill();
      await kept.start();
      await kept.connected();
      await kept.hasState("blocked");
      expect(await kept.neovim.lua(`return require("port").no_diff()`)).toBe(true);
      await kept.neovim.command("Claude send! 1");
      expect(await kept.said()).toContain("answer it first");
      const isWritten = async () => (await kept.onDisk()) !== TEXT;
      await untilAnswered(() => kept.press("Enter"), isWritten);
      expect(await kept.onDisk()).toBe(TEXT.replace("one", "eins"));
      await kept.shows(/Done\./);
      // Its hooks find the new Neovim, too.
      await eventually(
        async () => (await kept.neovim.lua<number>("return HOOKS")) > 0,
        true,
        START_MS,
      );
    },
    CASE_MS,
  );

  test(
    "given up, it is adopted all the same, receives prompts, and connects by /ide",
    async () => {
      await kept.kill();
      await Bun.sleep(GIVES_UP_MS);
      await kept.start();
      await eventually(async () => (await kept.row())?.n, 1);
      kept.model.script([say("I read you.")]);
      await kept.neovim.command("Claude send! are you there?");
      await kept.shows(/I read you\./);
      expect((await kept.row())?.connected).toBeUndefined();
      await kept.says("type /ide there");
      await kept.neovim.command("Claude send! /ide");
      await kept.shows(/Connect to an IDE/);
      for (const key of ["Up", "Enter"]) {
        await Bun.sleep(QUESTION_MS);
        await kept.press(key);
      }
      await kept.shows(/Connect to your IDE automatically/);
      await Bun.sleep(QUESTION_MS);
      await kept.press("Enter");
      await kept.connected();
    },
    CASE_MS,
  );
});
