import { statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/*
 * A change that could not be recorded, as the disk was full. The file is made in time; its mtime then
 * takes no space.
 */
const NAME = "incomplete";

/** By whose change the mark may have been made or taken back. */
export function markPath(folder: string): string {
  return join(folder, NAME);
}

/** Makes the mark that says nothing yet. */
export function prepareMark(folder: string): void {
  const path = markPath(folder);
  if (statSync(path, { throwIfNoEntry: false })) return;
  writeFileSync(path, "", { mode: 0o600 });
  utimesSync(path, 0, 0);
}

/** A change could not be recorded. Never throws. */
export function markIncomplete(folder: string): void {
  try {
    const now = new Date();
    utimesSync(markPath(folder), now, now);
  } catch {
    // No folder either: there is no review to be incomplete.
  }
}

/** The user knows of it. Never throws. */
export function takeMarkBack(folder: string): void {
  try {
    utimesSync(markPath(folder), 0, 0);
  } catch {
    // There is none.
  }
}

/** When a change could last not be recorded, in ms since the epoch; undefined: never. */
export function incompleteSince(folder: string): number | undefined {
  return statSync(markPath(folder), { throwIfNoEntry: false })?.mtimeMs || undefined;
}
