import { type Entry, modeOf } from "./entry";

/** What waits for the user. */
export interface Counts {
  files: number;
  /** Those of files, one for each file that is an entry as a whole, one for a mode beside hunks. */
  hunks: number;
  added: number;
  removed: number;
}

export const NOTHING: Counts = { files: 0, hunks: 0, added: 0, removed: 0 };

export function countsOf(entries: readonly Entry[]): Counts {
  const counts = { ...NOTHING };
  for (const { kind, hunks, marks } of entries) {
    counts.files++;
    counts.hunks += kind === "changed" ? hunks.length + (modeOf({ marks }) ? 1 : 0) : 1;
    for (const hunk of hunks) {
      counts.added += hunk.added;
      counts.removed += hunk.removed;
    }
  }
  return counts;
}

export function sum(all: readonly Counts[]): Counts {
  const total = { ...NOTHING };
  for (const { files, hunks, added, removed } of all) {
    total.files += files;
    total.hunks += hunks;
    total.added += added;
    total.removed += removed;
  }
  return total;
}
