import { describe, expect, test } from "bun:test";
import { untilAnswered } from "../support/claude";
import { requireNamespace } from "../support/namespace";
import { NEWEST } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { Kept, TEXT } from "./kept";

/* What the CLI (Claude Code 2.1.330) does, whichever Neovim has gone: its server is gone, too. */

/** A CLI that has lost its Neovim tries for 17 s to find it again (measured with 2.1.330). */
const GIVES_UP_MS = 21_000;

requireNamespace();
describe("a Claude that is left in tmux", () => {
  const kept = Kept.inBlock(NEWEST);

  test("by kill -9 of Neovim and its server with a diff on screen: asks in its pane", async () => {
    kept.model.script([read(kept.file), edit(kept.file, "one", "eins"), say("Done.")]);
    await kept.neovim.command("Claude send! change it");
    await kept.diffShown();
    const server = await kept.neovim.lua<number>(`return require("port").server.process.pid`);
    process.kill(server, "SIGKILL");
    await kept.kill();
    await kept.start();
    await kept.hasState("blocked");
    expect(await kept.neovim.lua(`return require("port").no_diff()`)).toBe(true);
    await kept.neovim.command("Claude send! 1");
    expect(await kept.said()).toContain("answer it first");
    const isWritten = async () => (await kept.onDisk()) !== TEXT;
    await untilAnswered(() => kept.press("Enter"), isWritten);
    expect(await kept.onDisk()).toBe(TEXT.replace("one", "eins"));
    await kept.shows(/Done\./);
  });

  test("given up, it connects by /ide", async () => {
    await kept.kill();
    await Bun.sleep(GIVES_UP_MS);
    await kept.start();
    await eventually(async () => (await kept.row())?.n, 1);
    await kept.connectByIde();
  });
});
