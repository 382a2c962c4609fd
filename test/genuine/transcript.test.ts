import { describe, expect, test } from "bun:test";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS } from "../support/toolchain";
import { read } from "../support/turns";
import { eventually } from "./eventually";
import { CASE_MS, InTerminal } from "./in-terminal";

/* A conversation of the genuine CLI as a buffer, and its screen with either of its two renderers. */
const LONG = Array.from({ length: 120 }, (_, i) => `${i + 1}. line`).join("\n");

requireNamespace();
describe.each(NEOVIMS)("the conversation in $name", (version) => {
  const claude = new InTerminal().inBlock(version, { files: { "main.lua": "return 1\n" } });
  const lua = <T>(code: string) => claude.neovim.lua<T>(code);
  const lines = () => lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, true)");
  const keys = (typed: string) =>
    lua(`vim.api.nvim_feedkeys(vim.keycode("${typed}"), "m", false) return true`);

  test(
    "the key shows all of an answer in Claude's window, what follows comes, and i types again",
    async () => {
      claude.model.script([
        [{ text: "I look." }, ...read(claude.path("main.lua"))],
        [{ text: LONG }],
      ]);
      await claude.command("Claude");
      await claude.showing(/^❯/m);
      await claude.send("explain");
      await claude.showing(/120\. line/);
      await keys("<C-q>o");
      await eventually(async () => (await lines()).includes("1. line"), true);
      const shown = await lines();
      expect(shown.slice(0, 3)).toEqual(["❯ explain", "", "I look."]);
      expect(shown).toContain("▸ Read `main.lua`  1 line");
      expect(shown).toContain("120. line");
      expect(await lua<number>("return #vim.api.nvim_list_wins()")).toBe(2);
      claude.model.script([[{ text: "Once more." }]]);
      await claude.send("again");
      await eventually(async () => (await lines()).includes("Once more."), true);
      await keys("i");
      await eventually(() => lua("return vim.api.nvim_get_mode().mode"), "t");
      await claude.showing(/Once more/);
    },
    CASE_MS,
  );
});

describe.each([
  [true, false],
  [false, true],
])("terminal.fullscreen = %s", (fullscreen, hasScrollback) => {
  const claude = new InTerminal().inBlock(NEOVIMS[0] as never, {
    files: { "main.lua": "return 1\n" },
    terminal: `fullscreen = ${fullscreen}`,
  });

  test(
    "decides whether what scrolls off stays in the terminal's buffer",
    async () => {
      claude.model.script([[{ text: LONG }]]);
      await claude.command("Claude");
      await claude.showing(/^❯/m);
      await claude.send("explain");
      await claude.showing(/120\. line/);
      const text = await claude.neovim.lua<string>(`
        local row = require("port").session_rows.get(1)
        return table.concat(vim.api.nvim_buf_get_lines(row.buf, 0, -1, true), "\\n")`);
      expect(/^\W*1\. line/m.test(text)).toBe(hasScrollback);
    },
    CASE_MS,
  );
});
