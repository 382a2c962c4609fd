import { fstatSync } from "node:fs";
import { readRange, withRegular } from "../lib/read-regular";

/** A line of the file, or the number of bytes of a line that is too long to read. */
export type Line = string | { skipped: number };

/** Bytes. Longer lines hold an image or a pasted file. */
const MAX_LINE = 8 * 1024 * 1024;

const BLOCK = 256 * 1024;
const LINE_END = 10;

/**
 * Reads the lines of a file that another program appends to: new lines as they arrive, and older ones backwards, a
 * part at a time. It holds a last line back until its line end arrives.
 */
export class TranscriptFile {
  /** The bytes read so far are those between `#begin` and `#end`; each is the start of a line. */
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
   * The lines that were added since the last call. `restarted`: it is the first call, another file is there,
   * or the file has become shorter, so that reading begins at the end. Throws the system's error, and an Error
   * for what is not a regular file.
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

  /** Reads backwards: the lines in about `bytes` bytes before those already read, and at least one if there is any. */
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

/** The start of the line in which an offset lies: behind the line end before it. */
function lineStart(file: number, offset: number): number {
  for (let end = offset; end > 0; ) {
    const from = Math.max(0, end - BLOCK);
    const at = readRange(file, from, end).lastIndexOf(LINE_END);
    if (at >= 0) return from + at + 1;
    end = from;
  }
  return 0;
}

/** The line that has no end yet. */
class Unfinished {
  #parts: Uint8Array[] = [];
  length = 0;

  /** Adds bytes; returns the lines that end in them. */
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
