import { compare } from "../weave/compare";
import { FILE, type Lines } from "../weave/lines";

/** Rows of a buffer to be replaced, from the last to the first, so that row numbers stay true. */
export interface Edit {
  /** From 1; with count 0 the row before which the lines go. */
  first: number;
  count: number;
  /** The bytes of the rows that stand there, without "\n": another text must not be touched. */
  expected: readonly Uint8Array[];
  /** Without "\n". */
  lines: readonly Uint8Array[];
}

export interface Edits {
  edits: readonly Edit[];
  /** Whether the last line of the new text ends with a line end. */
  eol: boolean;
}

/** Edits, and the text that a buffer has once they are applied. */
export interface EditsTo extends Edits {
  to: Lines;
}

/** What makes `to` of `from`. */
export function editsBetween(from: Lines, to: Lines): EditsTo {
  const old = from.filter((line) => line !== FILE);
  const now = to.filter((line) => line !== FILE);
  const edits = compare(old, now).map(({ oldStart, oldEnd, newStart, newEnd }) => ({
    first: oldStart + 1,
    count: oldEnd - oldStart,
    expected: old.slice(oldStart, oldEnd).map(rowOf),
    lines: now.slice(newStart, newEnd).map(rowOf),
  }));
  return { to, edits: edits.reverse(), eol: now.at(-1)?.endsWith("\n") ?? true };
}

/** A line's bytes as a row of a buffer. */
export function rowOf(line: string): Uint8Array {
  return Buffer.from(line.endsWith("\n") ? line.slice(0, -1) : line, "latin1");
}
