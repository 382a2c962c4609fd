import { describe, expect, test } from "bun:test";
import { visible } from "../../src/lib/visible";
import { BOTH_NEOVIMS, TestNeovim } from "../support/neovim";

/* Marks in a buffer, and codes in texts of the executable, are for the same characters. */
const COMMON = new Set([..."\t\n\f\r"]);

function* characters(): Generator<string> {
  for (let code = 1; code < 0x110000; code++) {
    if (code < 0xd800 || code > 0xdfff) yield String.fromCodePoint(code);
  }
}

describe.each(BOTH_NEOVIMS)("$name", (version) => {
  test.each(["", "a", "é", "\u200d"])(
    "marks what the executable writes as a code, behind %j",
    async (before) => {
      await using neovim = await TestNeovim.start({ version });
      const marked = await neovim.lua<number[]>(
        `local hidden, before, found = require("claude-code.editor.hunks.hidden"), ..., {}
      for code = 1, 0x10ffff do
        -- Surrogates are none, and a line feed stands for a NUL.
        local is_none = code >= 0xd800 and code <= 0xdfff or code == 10
        if not is_none and hidden.next_in(before .. vim.fn.nr2char(code), #before + 1) then
          found[#found + 1] = code
        end
      end
      return found`,
        before,
      );
      const coded = [...characters()].filter(
        (one) => !COMMON.has(one) && !visible(before + one).endsWith(one),
      );
      expect(marked).toEqual(coded.map((one) => one.codePointAt(0) ?? 0));
    },
  );
});
