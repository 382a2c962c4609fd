import { expect, test } from "bun:test";
import fc from "fast-check";
import { rebuild } from "../../src/diff/proposal";
import { fileUri, pathsOfUri, rawUri } from "../../src/lib/file-uri";
import { onEachNeovim } from "../support/session";
import { FUZZ_TIMEOUT_MS, tries } from "./effort";

/** Texts of few kinds of characters, so that line ends, marks and wide ones meet. */
const text = fc
  .array(
    fc.constantFrom("a", "b c", "\n", "\n", "\r\n", "\r\n", "\r", "\t", "é", "語", "😀", "e\u0301"),
    { maxLength: 30 },
  )
  .chain((parts) => fc.constantFrom(parts.join(""), `\uFEFF${parts.join("")}`));

onEachNeovim((session) => {
  test(
    "a proposal comes back from Neovim's lines to the byte",
    async () => {
      const texts = fc
        .sample(text, tries(600))
        .concat(["", "\n", "\r\n", "\uFEFF", "\uFEFF\n", "\r"]);
      const lines = await session.neovim.lua<string[][]>(
        `
      local text = require("claude-code.editor.diff.text")
      local buf = vim.api.nvim_create_buf(false, true)
      return vim.tbl_map(function(proposal)
        vim.api.nvim_buf_set_lines(buf, 0, -1, false, text.parse(proposal).lines)
        return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
      end, ...)`,
        texts,
      );
      for (const [i, proposal] of texts.entries()) {
        expect(rebuild(proposal, lines[i] as string[])).toBe(proposal);
      }
    },
    FUZZ_TIMEOUT_MS,
  );

  test(
    "columns go to UTF-16 and back",
    async () => {
      const lines = fc
        .sample(fc.string({ unit: "grapheme", maxLength: 20 }), tries(600))
        .filter((line) => line.isWellFormed() && !line.includes("\n"));
      const answers = await session.neovim.lua<[number, number][][]>(
        `
      local position = require("claude-code.editor.position")
      return vim.tbl_map(function(case)
        return vim.tbl_map(function(byte)
          local column = position.to_utf16(case.line, byte)
          return { column, position.to_byte(case.line, column) }
        end, case.bytes)
      end, ...)`,
        lines.map((line) => ({ line, bytes: boundaries(line).map(({ byte }) => byte) })),
      );
      for (const [i, line] of lines.entries()) {
        const wanted = boundaries(line).map(({ byte, column }) => [column, byte]);
        expect(answers[i], JSON.stringify(line)).toEqual(wanted as never);
      }
    },
    FUZZ_TIMEOUT_MS,
  );
});

/** Where characters begin, and the end: in bytes of UTF-8, and in UTF-16 code units. */
function boundaries(line: string): { byte: number; column: number }[] {
  const found = [{ byte: 0, column: 0 }];
  let byte = 0;
  let column = 0;
  for (const character of line) {
    byte += Buffer.byteLength(character);
    column += character.length;
    found.push({ byte, column });
  }
  return found;
}

test(
  "an edit changes its lines only: line ends, byte order mark and last newline stay",
  () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.stringMatching(/^[a-z]+$/), (proposal, at, word) => {
        const lines = linesOf(proposal);
        lines[at % lines.length] = word;
        const edited = rebuild(proposal, lines);
        expect(edited.startsWith("\uFEFF")).toBe(proposal.startsWith("\uFEFF"));
        expect(linesOf(edited)).toEqual(lines);
        const rest = proposal.replace("\uFEFF", "");
        if (rest !== "") expect(edited.endsWith("\n")).toBe(rest.endsWith("\n"));
        if (isCrlf(rest) && edited.includes("\n")) expect(isCrlf(edited)).toBe(true);
      }),
      { numRuns: tries(2000) },
    );
  },
  FUZZ_TIMEOUT_MS,
);

const isCrlf = (body: string) => body.includes("\r\n") && !/(^|[^\r])\n/.test(body);

/** As Neovim has them: see the first test. */
function linesOf(proposal: string): string[] {
  const body = proposal.replace(/^\uFEFF/, "");
  const eol = isCrlf(body) ? "\r\n" : "\n";
  return (body.endsWith(eol) ? body.slice(0, -eol.length) : body).split(eol);
}

test(
  "every path is found again in its URI, encoded or raw",
  () => {
    const path = fc
      .array(fc.string({ unit: "binary", maxLength: 12 }), { minLength: 1, maxLength: 4 })
      .map((parts) => `/${parts.map((part) => part.replaceAll("/", "_")).join("/")}`)
      .filter((whole) => whole.isWellFormed());
    fc.assert(
      fc.property(path, (whole) => {
        expect(pathsOfUri(fileUri(whole))[0]).toBe(whole);
        expect(pathsOfUri(rawUri(whole))).toContain(whole);
      }),
      { numRuns: tries(2000) },
    );
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.webUrl()), (uri) => {
        for (const found of [...pathsOfUri(uri), ...pathsOfUri(`file://${uri}`)]) {
          expect(found.startsWith("/")).toBe(true);
        }
      }),
      { numRuns: tries(2000) },
    );
  },
  FUZZ_TIMEOUT_MS,
);
