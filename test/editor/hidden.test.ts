import { ALL, NEOVIMS, TestNeovim } from "#test";
import { visible } from "../../src/lib/visible";

/* Marks in a buffer, and codes in texts of the executable, are for the same characters. */
const BLOCK = 0x100;
/** These are common; a line feed represents a NUL. */
const COMMON = new Set([..."\t\n\f\r"]);

/** All characters of a block except surrogates, each after the same text. */
function block(start: number, before: string): string {
  if (start >= 0xd800 && start < 0xe000) return "";
  const codes = Array.from({ length: BLOCK }, (_, i) => start + i);
  const all = codes.slice(start === 0 ? 1 : 0).map((code) => String.fromCodePoint(code));
  return all.map((one) => (COMMON.has(one) ? "" : before + one)).join("");
}

test.each(NEOVIMS)("marks what the executable writes as a code in $name", async (version) => {
  await using neovim = await TestNeovim.start({ version });
  const starts = Array.from({ length: 0x110000 / BLOCK }, (_, i) => i * BLOCK);
  // Only joiners (U+200C, U+200D) depend on the character before them.
  const behind = ["a", "é", "\u200d"].flatMap((before) =>
    (ALL ? starts : [0x2000]).map((one) => block(one, before)),
  );
  const texts = [...starts.map((one) => block(one, "")), ...behind, "\u200c", "\u200d"];
  const marked = await neovim.lua<string[]>(
    `local hidden = require("claude-code.editor.changes.hidden")
    return vim.tbl_map(function(text)
      local codes, first = {}, hidden.next_in(text)
      while first do
        local character = vim.fn.strcharpart(text:sub(first, first + 3), 0, 1)
        codes[#codes + 1] = ("<%02x>"):format(vim.fn.char2nr(character))
        first = hidden.next_in(text, first + #character)
      end
      return table.concat(codes)
    end, ...)`,
    texts,
  );
  const coded = (text: string) => (visible(text).match(/<[0-9a-f]+>/g) ?? []).join("");
  expect(marked).toEqual(texts.map(coded));
});
