import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS, nightly } from "../support/toolchain";
import { Loop } from "./diagnostics-loop";

/*
 * The genuine CLI (Claude Code 2.1.330) with our hooks and stdio server, as the CLI gets them that Neovim
 * starts; Neovim is real, only the model is a stand-in. What the model receives is the proof. It depends on
 * the CLI alone: what hooks find in each Neovim is in test/hooks.
 */
requireNamespace();
describe.each(NEOVIMS)("the loop with $name", (version) => {
  const loop = Loop.inBlock(version);

  nightly.test(
    "claude -p with what goes along from Neovim: no file of the user's is touched",
    async () => {
      const tool = "mcp__nvim-lsp__get_session_diagnostics";
      const from = loop.model.requests.length;
      const file = loop.script(tool);
      await loop.headless(await loop.launchArguments());
      loop.expectLoop(from, file, tool);
      // Without a connection to an editor, the hook after the edit reports what it broke.
      expect(loop.requests(from).map(newsText)[2]).toContain(
        "hook additional context: Problems in",
      );
      expect(JSON.stringify(loop.requests(from)[0])).toContain("What the user's Neovim knows");
      expect(existsSync(loop.project.path(".claude"))).toBe(false);
    },
  );

  test("the CLI in a terminal, connected to Neovim", async () => {
    const tool = "mcp__nvim-lsp__get_session_diagnostics";
    await using claude = await loop.claude();
    const from = loop.model.requests.length;
    const file = loop.script(tool);
    await claude.prompt("go");
    await claude.terminal.waitFor("Fixed.");
    await claude.waitForIdle();
    loop.expectLoop(from, file, tool);
    // The connection reports new problems itself.
    expect(loop.requests(from).map(newsText)[2]).not.toContain("hook additional context");
  });
});
