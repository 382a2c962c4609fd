import { dirname, join } from "node:path";
import { removeOld, removeOldDrafts } from "../lib/drafts";
import { journalLines, parseLine } from "./journal/read";
import { reviewFolder } from "./root";
import { isInside } from "./state/disk";

/** Locks that were broken, and the folders in which a base commit was put together. */
const IN_REVIEW = /\.lock\.[0-9a-f]{8}$|^base-/;
const MOST_FOLDERS = 200;

/**
 * Removes what processes that were killed have left: in the review's own folder, and beside the files
 * that were undone. Never throws.
 */
export function removeLeftovers(root: string): void {
  const folder = reviewFolder(root);
  removeOldDrafts(folder);
  removeOld(folder, IN_REVIEW);
  for (const place of undoneIn(root, folder)) removeOldDrafts(place);
}

function undoneIn(root: string, folder: string): string[] {
  const places = new Set<string>();
  for (const line of journalLines(folder).reverse()) {
    const record = line.includes('"type":"undo"') ? parseLine(line) : "other";
    if (typeof record === "string" || record.type !== "undo") continue;
    const files = record.files.map(({ path }) => join(root, path));
    for (const file of files) if (isInside(root, file)) places.add(dirname(file));
    if (places.size >= MOST_FOLDERS) break;
  }
  return [...places];
}
