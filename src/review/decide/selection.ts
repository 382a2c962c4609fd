import { type Entry, modeOf } from "../state/entry";
import type { Selection } from "../weave/decision";
import type { Hunk, Rows } from "../weave/hunks";

/** What of a file a request is about. */
export interface Chosen {
  /** Ids as they were listed; "file" is all of the file, "mode" its mode. */
  hunks?: readonly string[] | undefined;
  /** First and last row in the present text, from 1. */
  range?: readonly [number, number] | undefined;
}

/** The rows of an entry that are chosen; undefined if one of them is not what was shown. */
export function selectionOf(entry: Entry, { hunks, range }: Chosen): Selection | undefined {
  // What has no hunks is decided as a whole.
  if (range && entry.hunks.length > 0) return ofRange(entry, range);
  if (!hunks || hunks.includes("file")) return "all";
  const ids = hunks.filter((id) => id !== "mode");
  const found = ids.map((id) => entry.hunks.find((hunk) => hunk.id === id));
  if (!found.every((hunk) => hunk !== undefined)) return undefined;
  if (ids.length === hunks.length) return ofHunks(entry, found);
  // A file that is decided as a whole is decided with its mode.
  if (entry.kind !== "changed") return "all";
  const mode = modeOf(entry) !== undefined;
  return mode ? { ...rowsOf(found), mode } : undefined;
}

/** All lines of a file that was created or deleted are the file itself. */
export function ofHunks(entry: Entry, hunks: readonly Hunk[]): Selection {
  const isWhole = hunks.length === entry.hunks.length && entry.kind !== "changed";
  return isWhole ? "all" : rowsOf(hunks);
}

export function rowsOf(hunks: readonly Hunk[]): { old: Rows[]; new: Rows[] } {
  return { old: hunks.map((hunk) => hunk.old), new: hunks.map((hunk) => hunk.new) };
}

/** The rows of a range, and of the deleted ones those that stand beside them. */
function ofRange(entry: Entry, [first, last]: readonly [number, number]): Selection | undefined {
  const parts = entry.hunks.flatMap((hunk) => partOf(hunk, first, last) ?? []);
  if (parts.length === 0) return undefined;
  const whole = parts.every((part) => part.whole) ? parts.map((part) => part.hunk) : undefined;
  if (whole) return ofHunks(entry, whole);
  return { old: parts.map((part) => part.old), new: parts.map((part) => part.new) };
}

interface Part {
  hunk: Hunk;
  whole: boolean;
  old: Rows;
  new: Rows;
}

/** Row by row, the old rows stand beside the new ones; those that are left over beside the last. */
function partOf(hunk: Hunk, first: number, last: number): Part | undefined {
  const [oldFirst, oldCount] = hunk.old;
  const [newFirst, newCount] = hunk.new;
  const whole: Part = { hunk, whole: true, old: hunk.old, new: hunk.new };
  if (newCount === 0) {
    // Deleted rows are drawn at the row below them, and at the last one when there is none.
    const isInside = first <= Math.max(newFirst, 1) && last >= newFirst;
    return isInside || first === newFirst + 1 ? whole : undefined;
  }
  const from = Math.max(first, newFirst) - newFirst;
  const to = Math.min(last, newFirst + newCount - 1) - newFirst;
  if (from > to) return undefined;
  if (from === 0 && to === newCount - 1) return whole;
  const oldEnd = to === newCount - 1 ? oldCount : Math.min(to + 1, oldCount);
  const oldFrom = Math.min(from, oldCount);
  return {
    hunk,
    whole: false,
    old: [oldFirst + oldFrom, Math.max(0, oldEnd - oldFrom)],
    new: [newFirst + from, to - from + 1],
  };
}
