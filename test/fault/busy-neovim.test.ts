import { beforeEach, expect, test } from "bun:test";
import { eventually } from "../support/eventually";
import { onEachNeovim } from "../support/session";

/** What a Neovim that was away for a while tells afterwards. */
onEachNeovim((session) => {
  beforeEach(() => session.reset());

  test("what changed while nobody could wait for it any longer is known afterwards", async () => {
    const path = session.write("late.txt", "text\n");
    await session.edit(path);
    const uri = `file://${path}`;
    await session.neovim.lua(`LATE = vim.api.nvim_create_namespace("late")`);
    const set = `vim.diagnostic.set(LATE, 0, {{ lnum = 0, col = 0, message = "came late" }})`;
    await session.neovim.request("nvim_input", [`:lua ${set}; vim.uv.sleep(1500)<CR>`]);
    // Longer than the answer waits: it is given without Neovim.
    await session.client.texts("getDiagnostics", { uri });
    await session.neovim.lua("return 1");
    const [text] = await session.client.texts("getDiagnostics", { uri });
    expect(text).toContain("came late");
  });

  test("a crowd of questions is a few for Neovim", async () => {
    await session.neovim.lua(`
        ASKED = 0
        local state = require("claude-code.editor.state")
        local sync = state.sync
        state.sync = function() ASKED = ASKED + 1; return sync() end`);
    await session.neovim.request("nvim_input", [":lua vim.uv.sleep(300)<CR>"]);
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => session.client.json("getOpenEditors")),
    );
    expect(answers).toHaveLength(200);
    await eventually("few questions", async () => {
      expect(await session.neovim.lua<number>("return ASKED")).toBeLessThanOrEqual(10);
      return true;
    });
  });
});
