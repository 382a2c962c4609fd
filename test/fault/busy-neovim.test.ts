import { beforeEach, expect, test } from "bun:test";
import { keepBusy } from "../support/busy";
import { eventually } from "../support/eventually";
import { onEachNeovim } from "../support/session";

/** What a Neovim that was busy for a while reports afterwards. */
onEachNeovim((session) => {
  beforeEach(() => session.reset());

  test("what changed after the deadline of its question is known afterwards", async () => {
    const path = session.write("late.txt", "text\n");
    await session.edit(path);
    const uri = `file://${path}`;
    await session.neovim.lua(`LATE = vim.api.nvim_create_namespace("late")`);
    const set = `vim.diagnostic.set(LATE, 0, {{ lnum = 0, col = 0, message = "came late" }})`;
    const letGo = await keepBusy(session.neovim, set);
    // Longer than the answer waits: it is given without Neovim.
    await session.client.texts("getDiagnostics", { uri });
    await letGo();
    await eventually("what came late", async () => {
      const [text] = await session.client.texts("getDiagnostics", { uri });
      expect(text).toContain("came late");
    });
  });

  test("a crowd of questions is a few for Neovim", async () => {
    await session.neovim.lua(`ASKED = require("port").count_syncs()`);
    const letGo = await keepBusy(session.neovim);
    const answers = Array.from({ length: 200 }, () => session.client.json("getOpenEditors"));
    // Answered behind all of them, and without Neovim.
    await session.client.request("ping");
    await letGo();
    expect(await Promise.all(answers)).toHaveLength(200);
    expect(await session.neovim.lua<number>("return ASKED()")).toBeLessThanOrEqual(10);
  });
});
