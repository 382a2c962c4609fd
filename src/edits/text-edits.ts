import type { Encoding, Position } from "../editor/model";
import { FileProblem } from "./problem";

export interface TextEdit {
  range: { start: Position; end: Position };
  newText: string;
}

/** One with what its positions are counted in. */
export interface EncodedEdit extends TextEdit {
  encoding: Encoding;
}

/** Whether an edit may replace this text; a problem begins behind the file's name. */
export type Judge = (replaced: string, edit: TextEdit) => string | undefined;

const BOM = "\uFEFF";

/**
 * A file's bytes with the edits of one version of it applied (LSP 3.17, `TextEdit[]`). BOM, line ends
 * and a missing last line end stay; positions do not count the BOM, and new text gets the file's line
 * ends. Throws FileProblem.
 */
export function applyTextEdits(
  bytes: Uint8Array,
  edits: readonly EncodedEdit[],
  judge: Judge = () => undefined,
): Uint8Array {
  const text = new EditableText(bytes);
  const placed = edits.map((edit) => text.place(edit));
  // Stable: insertions at one place keep their order.
  placed.sort((a, b) => a.start - b.start || a.end - b.end);
  let result = "";
  let at = 0;
  for (const { start, end, newText, edit } of placed) {
    if (start < at) throw new FileProblem("would get edits that overlap");
    const problem = judge(text.content.slice(start, end), edit);
    if (problem) throw new FileProblem(problem);
    result += text.content.slice(at, start) + newText;
    at = end;
  }
  return Buffer.from(text.bom + result + text.content.slice(at));
}

class EditableText {
  readonly bom: string;
  readonly content: string;
  /** The offsets at which each line begins, and ends without its line end. */
  readonly #lines: { start: number; end: number }[] = [];
  readonly #lineEnd: "\n" | "\r\n";

  constructor(bytes: Uint8Array) {
    const text = decode(bytes);
    this.bom = text.startsWith(BOM) ? BOM : "";
    this.content = text.slice(this.bom.length);
    let start = 0;
    for (const { index, 0: end } of this.content.matchAll(/\r\n|\n/g)) {
      this.#lines.push({ start, end: index });
      start = index + end.length;
    }
    this.#lines.push({ start, end: this.content.length });
    this.#lineEnd = /^[^\n]*\r\n/.test(this.content) ? "\r\n" : "\n";
  }

  place(edit: EncodedEdit): { start: number; end: number; newText: string; edit: TextEdit } {
    const { range, newText, encoding } = edit;
    const start = this.#offset(range.start, encoding);
    const end = this.#offset(range.end, encoding);
    if (start === undefined) {
      const text = `has ${this.#lines.length} lines, and the language server names line ${range.start.line + 1}`;
      throw new FileProblem(`${text}: it knows another text`);
    }
    return {
      start,
      // Servers name a line far below the last one for the end of the text.
      end: Math.max(start, end ?? this.content.length),
      newText: newText.replaceAll(/\r\n|\r|\n/g, this.#lineEnd),
      edit,
    };
  }

  /** Undefined behind the last line. A column behind the end of its line is that end (LSP 3.17). */
  #offset({ line, character }: Position, encoding: Encoding): number | undefined {
    const found = this.#lines[line];
    if (!found) return line === this.#lines.length ? this.content.length : undefined;
    const { start, end } = found;
    if (encoding === "utf-16") return this.#whole(Math.min(start + character, end), start);
    let at = start;
    for (let left = character; left > 0 && at < end; ) {
      const point = this.content.codePointAt(at) as number;
      left -= encoding === "utf-32" ? 1 : bytesOf(point);
      at += point > 0xffff ? 2 : 1;
    }
    return at;
  }

  /** Never between the halves of a surrogate pair. */
  #whole(at: number, start: number): number {
    const isInside = at > start && (this.content.codePointAt(at - 1) as number) > 0xffff;
    return isInside ? at - 1 : at;
  }
}

function decode(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FileProblem("is not in UTF-8");
  }
  if (text.includes("\0")) throw new FileProblem("is a binary file");
  // To a language server each of them ends a line, to Neovim none does.
  if (/\r(?!\n)/.test(text)) throw new FileProblem("has carriage returns within lines");
  return text;
}

function bytesOf(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}
