import type { Encoding } from "../editor/model";
import { readRegular } from "../lib/read-regular";

const MOST_BYTES = 4 * 1024 * 1024;
const MOST_CODE = 160;

/** The lines of files on disk, each file read once. */
export class SourceLines {
  readonly #files = new Map<string, readonly string[]>();

  /** Empty where the file cannot be read. */
  of(path: string): readonly string[] {
    let lines = this.#files.get(path);
    if (!lines) {
      lines = readLines(path);
      this.#files.set(path, lines);
    }
    return lines;
  }

  /** `line` from 1. */
  at(path: string, line: number): string {
    return this.of(path)[line - 1] ?? "";
  }
}

/** Without the indentation, and cut: a generated file may have lines of megabytes. */
export function code(line: string): string {
  const text = line.trim().replaceAll(/\s+/g, " ");
  return text.length > MOST_CODE ? `${text.slice(0, MOST_CODE)}…` : text;
}

/** A server's column as an index into the line. */
export function indexOf(line: string, character: number, encoding: Encoding = "utf-16"): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
  if (encoding === "utf-16" || /^[\u0000-\u007f]*$/.test(line)) return character;
  if (encoding === "utf-8") return Buffer.from(line).subarray(0, character).toString().length;
  return [...line].slice(0, character).join("").length;
}

const UTF8 = new TextDecoder();

/** Without a BOM: Neovim keeps it out of the text, so language servers do not count it. */
export function textOf(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

function readLines(path: string): string[] {
  try {
    return textOf(readRegular(path, MOST_BYTES)).split(/\r\n|\n|\r/);
  } catch {
    return [];
  }
}
