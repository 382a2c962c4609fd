import { describe, expect, test } from "bun:test";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { Kept, START_MS, TEXT } from "./kept";

/*
 * A genuine CLI (Claude Code 2.1.330) that outlives its Neovim connects to the next one by /ide. Only the model
 * is a stand-in.
 */
requireNamespace();
describe.each(NEOVIMS)("a Claude that $name leaves in tmux", (version) => {
  const kept = Kept.inBlock(version);

  test("by kill -9 with a diff on screen: that is rejected; it receives prompts, and connects by /ide", async () => {
    kept.model.script([read(kept.file), edit(kept.file, "one", "eins")]);
    await kept.neovim.command("Claude send! change it");
    await kept.diffShown();
    const { id } = (await kept.row()) ?? {};
    await kept.kill();
    await kept.start();
    await eventually(async () => (await kept.row())?.id, id);
    await kept.hasState("idle");
    expect(await kept.onDisk()).toBe(TEXT);
    kept.model.script([say("I read you.")]);
    await kept.neovim.command("Claude send! are you there?");
    await kept.shows(/I read you\./);
    expect((await kept.row())?.connected).toBeUndefined();
    await kept.says("type /ide there");
    await kept.connectByIde();

    kept.model.script([read(kept.file), edit(kept.file, "two", "zwei"), say("Done again.")]);
    await kept.neovim.command("Claude send! change more");
    await kept.diffShown();
    await kept.neovim.command("Claude diff accept");
    await eventually(async () => (await kept.onDisk()).includes("zwei"), true);
    await kept.shows(/Done again\./);
    // Its hooks find the new Neovim, too.
    const hooks = () => kept.neovim.lua<number>("return HOOKS");
    await eventually(async () => (await hooks()) > 0, true, START_MS);
  });
});
