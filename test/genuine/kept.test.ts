import { describe, expect, test } from "bun:test";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS, nightly } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { CASE_MS, Kept, TEXT } from "./kept";

/*
 * A genuine CLI (Claude Code 2.1.330) that outlives its Neovim connects to the next one. Only the model is
 * a stand-in.
 */
requireNamespace();
describe.each(NEOVIMS)("a Claude that $name leaves in tmux", (version) => {
  const kept = Kept.inBlock(version);

  test(
    "by kill -9 with a diff on screen: that is rejected, and it connects again",
    async () => {
      kept.model.script([read(kept.file), edit(kept.file, "one", "eins")]);
      await kept.neovim.command("Claude send! change it");
      await kept.diffShown();
      const { id } = (await kept.row()) ?? {};
      await kept.kill();
      await kept.start();
      await kept.connected();
      expect(await kept.row()).toMatchObject({ n: 1, id });
      await kept.hasState("idle");
      expect(await kept.onDisk()).toBe(TEXT);
    },
    CASE_MS,
  );

  nightly.test(
    "by :qa: connects again, and shows its next edit there",
    async () => {
      await kept.neovim.quit();
      await kept.start();
      await kept.connected();
      kept.model.script([read(kept.file), edit(kept.file, "two", "zwei"), say("Done again.")]);
      await kept.neovim.command("Claude send! change more");
      await kept.diffShown();
      await kept.neovim.command("Claude diff accept");
      await eventually(async () => (await kept.onDisk()).includes("zwei"), true);
      await kept.shows(/Done again\./);
      expect(await kept.said()).not.toContain("/ide");
    },
    CASE_MS,
  );
});
