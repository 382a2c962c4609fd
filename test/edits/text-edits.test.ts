import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Encoding } from "../../src/editor/model";
import { applyTextEdits, type TextEdit } from "../../src/edits/text-edits";

/* A language server's text edits in the bytes of a file (LSP 3.17), against a plain reference. */

const ENCODINGS: Encoding[] = ["utf-8", "utf-16", "utf-32"];

function edit(from: [number, number], to: [number, number], newText: string): TextEdit {
  const [start, end] = [from, to].map(([line, character]) => ({ line, character }));
  return { range: { start, end } as TextEdit["range"], newText };
}

function encoded(edits: TextEdit[], encoding: Encoding) {
  return edits.map((one) => ({ ...one, encoding }));
}

function applied(text: string, edits: TextEdit[], encoding: Encoding = "utf-16"): string {
  return Buffer.from(applyTextEdits(Buffer.from(text), encoded(edits, encoding))).toString();
}

describe("text edits", () => {
  const columns: [Encoding, number][] = [
    ["utf-8", 11],
    ["utf-16", 8],
    ["utf-32", 7],
  ];
  test.each(columns)("columns behind an emoji and an umlaut in %s", (encoding, column) => {
    const edits = [edit([0, column], [0, column + 3], "new")];
    expect(applied('x "😀ä" old\n', edits, encoding)).toBe('x "😀ä" new\n');
  });

  test("BOM, CRLF and a missing last line end stay, and new text gets CRLF", () => {
    expect(applied("\uFEFFa\r\nb", [edit([0, 0], [0, 1], "c\nd")])).toBe("\uFEFFc\r\nd\r\nb");
  });

  test("insertions at one place keep their order", () => {
    const edits = [edit([0, 1], [0, 1], "1"), edit([0, 1], [0, 1], "2"), edit([0, 1], [0, 2], "3")];
    expect(applied("abc", edits)).toBe("a123c");
  });

  test("an end far below the last line is the end of the text", () => {
    expect(applied("a\nb\n", [edit([0, 0], [9999, 0], "new\n")])).toBe("new\n");
  });

  test("a column behind the end of its line is that end", () => {
    expect(applied("a\r\nb\r\n", [edit([0, 50], [0, 99], "!")])).toBe("a!\r\nb\r\n");
  });

  const refused: [string, string | Uint8Array, TextEdit[], string][] = [
    ["overlap", "abc", [edit([0, 0], [0, 2], ""), edit([0, 1], [0, 3], "")], "overlap"],
    ["a line that is not there", "a\n", [edit([5, 0], [5, 0], "x")], "it knows another text"],
    ["Latin-1", new Uint8Array([0xe4, 10]), [], "is not in UTF-8"],
    ["NUL", "a\0b", [], "is a binary file"],
    ["a carriage return in a line", "a\rb\n", [], "carriage returns"],
  ];
  test.each(refused)("%s: refused", (_name, text, edits, problem) => {
    expect(() => applyTextEdits(Buffer.from(text as string), encoded(edits, "utf-16"))).toThrow(
      problem,
    );
  });

  test("any edits, in any encoding, do what a plain implementation does", () => {
    const piece = fc.constantFrom("a", "Bc ", "ä", "é\u0301", "😀", "漢", "\t", "\n", "\n\n", "");
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
    const given = fc.record({
      text,
      encoding: fc.constantFrom(...ENCODINGS),
      crlf: fc.boolean(),
      bom: fc.boolean(),
      cuts: fc.array(fc.tuple(fc.nat(), text), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(given, ({ text, encoding, crlf, bom, cuts }) => {
        const lineEnd = (value: string) => (crlf ? value.replaceAll("\n", "\r\n") : value);
        const file = (value: string) => (bom ? "\uFEFF" : "") + lineEnd(value);
        const { edits, result } = reference(text, cuts, encoding);
        const hasLineEnds = text.includes("\n");
        const expected = hasLineEnds || !crlf ? file(result) : (bom ? "\uFEFF" : "") + result;
        expect(applied(file(text), edits, encoding)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });
});

/** Cuts the text at character boundaries, and replaces every second part. */
function reference(text: string, cuts: [number, string][], encoding: Encoding) {
  const points = [...text];
  const places = cuts.map(([at]) => at % (points.length + 1)).sort((a, b) => a - b);
  const edits: TextEdit[] = [];
  let result = "";
  let last = 0;
  for (let i = 0; i + 1 < places.length; i += 2) {
    const [from, to] = [places[i] as number, places[i + 1] as number];
    const newText = cuts[i]?.[1] ?? "";
    edits.push({
      range: { start: position(points, from, encoding), end: position(points, to, encoding) },
      newText,
    });
    result += points.slice(last, from).join("") + newText;
    last = to;
  }
  // A server may send them in any order.
  const isSorted = new Set(places).size === places.length;
  return {
    edits: isSorted ? edits.toReversed() : edits,
    result: result + points.slice(last).join(""),
  };
}

function position(points: string[], at: number, encoding: Encoding) {
  const before = points.slice(0, at).join("").split("\n");
  const line = before.at(-1) ?? "";
  const character = {
    "utf-8": Buffer.byteLength(line),
    "utf-16": line.length,
    "utf-32": [...line].length,
  };
  return { line: before.length - 1, character: character[encoding] };
}
