import { lstatSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { attempt } from "../../lib/errors";
import { gitTop } from "../../lib/git-folder";
import { isBelow, passedFolder, realPath, stateFolder } from "../../lib/paths";
import { basename, dirname, join, relative } from "../../lib/platform";
import { makePrivateFolder } from "../../lib/private-folder";

/**
 * The root of a review: the real path of the git repository's top around `folder`, or of the folder itself. Hooks pass
 * CLAUDE_PROJECT_DIR, because Claude's `cd` changes their working folder (measured with 2.1.330). Throws what
 * passedFolder throws.
 */
export function reviewRoot(folder: string): string {
  const real = passedFolder(folder);
  return gitTop(real) ?? real;
}

/** The folder with the records of one root: `journal.jsonl`, `blobs/`, `set-aside/`, `root`. */
export function reviewFolder(root: string): string {
  const id = new Bun.CryptoHasher("sha256").update(root).digest("hex").slice(0, 32);
  return join(stateFolder(), "review", id);
}

/** Creates a root's review folder, which only its owner may enter. Throws the system's error. */
export function ensureReviewFolder(root: string): string {
  const folder = reviewFolder(root);
  makePrivateFolder(join(folder, "blobs"));
  // The file may exist.
  attempt(() => writeFileSync(join(folder, "root"), root, { mode: 0o600, flag: "wx" }));
  const incomplete = incompletePath(folder);
  if (statSync(incomplete, { throwIfNoEntry: false })) return folder;
  writeFileSync(incomplete, "", { mode: 0o600 });
  utimesSync(incomplete, 0, 0);
  return folder;
}

/**
 * Returns a file's path below the root, with `/`. Resolves symlinks among its folders, and with `throughSymlink` also
 * the file itself. Undefined for a path outside the root or in git's folder, and for a name that is not UTF-8.
 */
export function pathBelow(root: string, path: string, throughSymlink = false): string | undefined {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  const keepsLink = isLink && !throughSymlink;
  const real = keepsLink ? join(realPath(dirname(path)), basename(path)) : realPath(path);
  if (real === root || !isBelow(real, root)) return undefined;
  const parts = relative(root, real).split("/");
  // A name may contain a genuine U+FFFD.
  const isText = !real.includes("\uFFFD") || lstatSync(real, { throwIfNoEntry: false });
  return isText && !parts.includes(".git") ? parts.join("/") : undefined;
}

/**
 * The mtime of this file is when a change last could not be recorded, for example because the disk was full. The file
 * exists in advance, because changing its mtime takes no space.
 */
export function incompletePath(folder: string): string {
  return join(folder, "incomplete");
}

/** Notes that a record is missing; the time 0 means that the user knows. Never throws. */
export function noteIncomplete(folder: string, time = new Date()): void {
  // Without a folder there is no review that could be incomplete.
  attempt(() => utimesSync(incompletePath(folder), time, time));
}

/** When a change last could not be recorded, in ms since the epoch; undefined if all changes were recorded. */
export function incompleteSince(folder: string): number | undefined {
  return statSync(incompletePath(folder), { throwIfNoEntry: false })?.mtimeMs || undefined;
}
