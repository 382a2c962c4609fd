import { dirname, join } from "node:path";
import { removeOld, removeOldDrafts } from "../../lib/drafts";
import { isInside, reviewFolder } from "./folder";
import { journalLines, parseLine } from "./read";

/** Of who was about to take a lock over, and the folders in which a base commit was put together. */
const IN_REVIEW = /\.lock(\.[0-9a-f]{8})+$|^base-/;
const MOST_FOLDERS = 200;

/**
 * Removes what processes that were killed have left: in the review's own folder, and beside the files
 * below the root, `paths`, that an undo may have written (those of the journal if left out). Never
 * throws.
 */
export function removeLeftovers(root: string, paths?: Iterable<string>): void {
  const folder = reviewFolder(root);
  removeOldDrafts(folder);
  removeOld(folder, IN_REVIEW);
  const folders = new Set<string>();
  for (const path of paths ?? undoneIn(folder)) {
    const file = join(root, path);
    if (!folders.has(dirname(file)) && isInside(root, file)) folders.add(dirname(file));
    if (folders.size >= MOST_FOLDERS) break;
  }
  for (const one of folders) removeOldDrafts(one);
}

function* undoneIn(folder: string): Generator<string> {
  for (const line of journalLines(folder).reverse()) {
    const record = line.includes('"type":"undo"') ? parseLine(line) : "other";
    if (typeof record === "string" || record.type !== "undo") continue;
    for (const { path } of record.files) yield path;
  }
}
