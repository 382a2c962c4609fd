import fc from "fast-check";
import { onEachNeovim, setDefaultTimeout } from "#test";
import { fileUri, pathsOfUri, rawUri } from "../../src/lib/file-uri";
import { FUZZ_TIMEOUT_MS, tries } from "./effort";

setDefaultTimeout(FUZZ_TIMEOUT_MS);

/** Texts with few kinds of characters, so that line ends, combining marks and wide characters are often adjacent. */
const text = fc
  .array(
    fc.constantFrom("a", "b c", "\n", "\n", "\r\n", "\r\n", "\r", "\t", "é", "語", "😀", "e\u0301"),
    { maxLength: 30 },
  )
  .chain((parts) => fc.constantFrom(parts.join(""), `\uFEFF${parts.join("")}`));

onEachNeovim((session) => {
  test("gives a proposal back from Neovim's lines to the byte", async () => {
    const texts = fc
      .sample(text, tries(600))
      .concat(["", "\n", "\r\n", "\uFEFF", "\uFEFF\n", "\r"]);
    const accepted = await session.neovim.lua<string[]>(
      `
      local text = require("port").proposal_text
      local buf = vim.api.nvim_create_buf(false, true)
      return vim.tbl_map(function(proposal)
        local proposed = text.parse(proposal)
        vim.api.nvim_buf_set_lines(buf, 0, -1, false, proposed.lines)
        return text.accepted(vim.api.nvim_buf_get_lines(buf, 0, -1, false), text.NOTHING, proposed)
      end, ...)`,
      texts,
    );
    expect(accepted).toEqual(texts);
  });

  test("converts bytes, UTF-16 columns and characters there and back", async () => {
    const lines = fc.sample(line, tries(600));
    const answers = await session.neovim.lua<[number, number, number, number][][]>(
      `
      local position = require("port").columns
      return vim.tbl_map(function(case)
        return vim.tbl_map(function(byte)
          local utf16 = position.of_byte(case.line, byte, "utf-16")
          local back = position.to_byte(case.line, utf16, "utf-16")
          local column = position.of_byte(case.line, byte, "utf-32")
          return { utf16, back, column, position.to_byte(case.line, column, "utf-32") }
        end, case.bytes)
      end, ...)`,
      lines.map((text) => ({ line: text, bytes: boundaries(text).map(({ byte }) => byte) })),
    );
    for (const [i, text] of lines.entries()) {
      const wanted = boundaries(text).map(({ byte, utf16, character }) => [
        utf16,
        byte,
        character,
        byte,
      ]);
      expect(answers[i], JSON.stringify(text)).toEqual(wanted as never);
    }
  });

  test("counts the characters before a place, and a line end as one", async () => {
    const texts = fc.sample(
      fc.array(line, { minLength: 1, maxLength: 6 }).filter((lines) => lines.join("") !== ""),
      tries(200),
    );
    const answers = await session.neovim.lua<{ offsets: number[]; size: number }[]>(
      `
      local characters = require("port").columns
      local buf = vim.api.nvim_create_buf(false, true)
      return vim.tbl_map(function(case)
        vim.api.nvim_buf_set_lines(buf, 0, -1, false, case.lines)
        local offsets = vim.tbl_map(function(place)
          return characters.offset(buf, place[1], place[2])
        end, case.places)
        return { offsets = offsets, size = characters.sizes({ bufs = { buf } })[1] }
      end, ...)`,
      texts.map((lines) => ({
        lines,
        places: lines.flatMap((text, lnum) => boundaries(text).map(({ byte }) => [lnum, byte])),
      })),
    );
    for (const [i, lines] of texts.entries()) {
      const starts = lines.map((_, lnum) => characters(lines.slice(0, lnum)));
      const offsets = lines.flatMap((text, lnum) =>
        boundaries(text).map(({ character }) => (starts[lnum] as number) + character + 1),
      );
      expect(answers[i], JSON.stringify(lines)).toEqual({ offsets, size: characters(lines) });
    }
  });

  test("gives bytes that are not UTF-8 columns within their line", async () => {
    const kinds = [0x61, 0x80, 0xbf, 0xc3, 0xe6, 0x97, 0xa5, 0xed, 0xf0, 0x9f, 0xf8, 0xff];
    const bytes = fc.oneof(fc.constantFrom(...kinds), fc.integer({ min: 0, max: 255 }));
    const lines = fc
      .sample(fc.array(bytes, { maxLength: 20 }), tries(600))
      .map((list) => Uint8Array.from(list.filter((byte) => byte !== 0x0a)));
    const wrong = await session.neovim.lua<string[]>(
      `
      local position = require("port").columns
      local characters = require("port").columns
      local buf = vim.api.nvim_create_buf(false, true)
      local wrong = {}
      for _, line in ipairs(...) do
        vim.api.nvim_buf_set_lines(buf, 0, -1, false, { line })
        local utf16 = 0
        for byte = 0, #line do
          local to = position.of_byte(line, byte, "utf-16")
          local back = position.to_byte(line, to, "utf-16")
          local count, offset = position.of_byte(line, byte, "utf-32"), characters.offset(buf, 0, byte)
          local after, of_count = position.after(line, byte), position.to_byte(line, count, "utf-32")
          local fits = to >= utf16 and to <= 2 * #line and back >= 0 and back <= #line
            and count >= 0 and count <= #line and offset == count + 1
            and of_count >= 0 and of_count <= #line
            and after >= math.min(byte + 1, #line) and after <= #line
          if not fits then
            wrong[#wrong + 1] = ("%s at %d: %s"):format(vim.inspect(line), byte,
              vim.inspect({ to, back, count, offset, after }))
          end
          utf16 = to
        end
      end
      return wrong`,
      lines,
    );
    expect(wrong).toEqual([]);
  });
});

/** A line of any characters, mostly those that take more than one byte or code unit. */
const line = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 20 }),
    fc.string({ unit: "binary", maxLength: 20 }),
    fc
      .array(fc.constantFrom("a", "\t", "é", "語", "😀", "e\u0301", "\uFEFF"), { maxLength: 20 })
      .map((parts) => parts.join("")),
  )
  .filter((text) => text.isWellFormed() && !text.includes("\n"));

/** The characters of these lines; each line end counts as one. */
function characters(lines: string[]): number {
  return lines.reduce((sum, text) => sum + [...text].length + 1, 0);
}

/** A place between two characters: bytes of UTF-8, UTF-16 code units, and characters before it. */
interface Boundary {
  byte: number;
  utf16: number;
  character: number;
}

function boundaries(text: string): Boundary[] {
  const found: Boundary[] = [{ byte: 0, utf16: 0, character: 0 }];
  for (const character of text) {
    const { byte, utf16, character: before } = found.at(-1) as Boundary;
    found.push({
      byte: byte + Buffer.byteLength(character),
      utf16: utf16 + character.length,
      character: before + 1,
    });
  }
  return found;
}

onEachNeovim((session) => {
  test("changes an edit's lines only, and no line end or byte order mark", async () => {
    const samples = fc.sample(fc.tuple(text, fc.nat(), fc.stringMatching(/^[a-z]+$/)), tries(2000));
    const cases = samples.map(([proposal, at, word]) => {
      const lines = linesOf(proposal);
      lines[at % lines.length] = word;
      return { proposal, lines };
    });
    const accepted = await session.neovim.lua<string[]>(
      `
      local text = require("port").proposal_text
      return vim.tbl_map(function(case)
        return text.accepted(case.lines, text.NOTHING, text.parse(case.proposal))
      end, ...)`,
      cases,
    );
    for (const [i, { proposal, lines }] of cases.entries()) {
      const edited = accepted[i] as string;
      expect(edited.startsWith("\uFEFF")).toBe(proposal.startsWith("\uFEFF"));
      expect(linesOf(edited)).toEqual(lines);
      const rest = proposal.replace("\uFEFF", "");
      if (rest !== "") expect(edited.endsWith("\n")).toBe(rest.endsWith("\n"));
      if (isCrlf(rest) && edited.includes("\n")) expect(isCrlf(edited)).toBe(true);
    }
  });
});

const isCrlf = (body: string) => body.includes("\r\n") && !/(^|[^\r])\n/.test(body);

/** In Neovim's form: see the first test. */
function linesOf(proposal: string): string[] {
  const body = proposal.replace(/^\uFEFF/, "");
  const eol = isCrlf(body) ? "\r\n" : "\n";
  return (body.endsWith(eol) ? body.slice(0, -eol.length) : body).split(eol);
}

test("finds every path again in its URI, encoded or raw", () => {
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
});
