import { fstatSync } from "node:fs";
import { readRange, withRegular } from "../lib/read-regular";

/** The text of a line, or the size in bytes of a line that is too long to read. */
export type Line = string | { skipped: number };

/** In bytes. Longer lines hold an image or a pasted file. */
const MAX_LINE = 8 * 1024 * 1024;

const BLOCK = 256 * 1024;
const LINE_END = 10;

/**
 * Reads a file that another program appends to: new lines as they arrive, and older lines backwards, one part at a
 * time. It holds back an unfinished last line until the line end arrives.
 */
export class TranscriptFile {
  /** We have read the bytes from `#begin` to `#end`. Both offsets are starts of lines. */
  #begin = 0;
  #end = 0;
  #inode: number | undefined;
  #unfinished = new Unfinished();

  constructor(readonly path: string) {}

  /** Whether `earlier` has reached the start of the file. */
  get isWhole(): boolean {
    return this.#begin === 0;
  }

  /**
   * Returns the lines added since the last call. `restarted` means that reading began at the end of the file: on the
   * first call, or because the file was replaced or became shorter. Throws the system's error, and an Error if the
   * path is not a regular file.
   */
  appended(): { lines: Line[]; restarted: boolean } {
    return withRegular(this.path, (file, size) => {
      const inode = fstatSync(file).ino;
      const restarted = inode !== this.#inode || size < this.#end + this.#unfinished.length;
      if (restarted) this.#restart(file, size, inode);
      const lines: Line[] = [];
      for (;;) {
        const from = this.#end + this.#unfinished.length;
        const bytes = readRange(file, from, Math.min(size, from + BLOCK));
        if (bytes.length === 0) return { lines, restarted };
        for (const line of this.#unfinished.add(bytes)) lines.push(line);
        this.#end = from + bytes.length - this.#unfinished.length;
      }
    });
  }

  #restart(file: number, size: number, inode: number): void {
    this.#inode = inode;
    this.#unfinished = new Unfinished();
    this.#end = lineStart(file, size);
    this.#begin = this.#end;
  }

  /** Reads backwards: about `bytes` bytes of lines before those already read, and at least one line if any is left. */
  earlier(bytes: number): Line[] {
    return withRegular(this.path, (file) => {
      const end = this.#begin;
      this.#begin = lineStart(file, Math.max(0, end - bytes));
      const lines: Line[] = [];
      const unfinished = new Unfinished();
      for (let at = this.#begin; at < end; at += BLOCK) {
        lines.push(...unfinished.add(readRange(file, at, Math.min(end, at + BLOCK))));
      }
      return lines;
    });
  }
}

/** The start of the line that contains `offset`. */
function lineStart(file: number, offset: number): number {
  for (let end = offset; end > 0; ) {
    const from = Math.max(0, end - BLOCK);
    const at = readRange(file, from, end).lastIndexOf(LINE_END);
    if (at >= 0) return from + at + 1;
    end = from;
  }
  return 0;
}

/** A line whose end has not arrived yet. */
class Unfinished {
  #parts: Uint8Array[] = [];
  length = 0;

  /** Adds bytes and returns the lines that they complete. */
  add(bytes: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, start)) {
      this.#keep(bytes.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    this.#keep(bytes.subarray(start));
    return lines;
  }

  #keep(bytes: Uint8Array): void {
    this.length += bytes.length;
    if (this.length <= MAX_LINE) this.#parts.push(bytes);
    else this.#parts = [];
  }

  #take(): Line {
    const { length } = this;
    const line = length <= MAX_LINE ? Buffer.concat(this.#parts).toString() : { skipped: length };
    this.#parts = [];
    this.length = 0;
    return line;
  }
}
