import { lstatSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { attempt } from "../../lib/errors";
import { gitTop } from "../../lib/git-folder";
import { isBelow, passedFolder, realPath, stateFolder } from "../../lib/paths";
import { makePrivateFolder } from "../../lib/private-folder";

/**
 * The root of what is reviewed together: the top of the git repository around `folder`, else the
 * folder itself; a real path. Hooks pass CLAUDE_PROJECT_DIR: their working folder moves with Claude's
 * `cd` (measured with 2.1.330). Throws as passedFolder.
 */
export function reviewRoot(folder: string): string {
  const real = passedFolder(folder);
  return gitTop(real) ?? real;
}

/** The folder that holds what is recorded of one root: `journal.jsonl`, `blobs/`, `set-aside/`, `root`. */
export function reviewFolder(root: string): string {
  const id = new Bun.CryptoHasher("sha256").update(root).digest("hex").slice(0, 32);
  return join(stateFolder(), "review", id);
}

/** Makes a root's folder, which only its owner may enter. Throws the system's error. */
export function ensureReviewFolder(root: string): string {
  const folder = reviewFolder(root);
  makePrivateFolder(join(folder, "blobs"));
  // It may be there.
  attempt(() => writeFileSync(join(folder, "root"), root, { mode: 0o600, flag: "wx" }));
  const incomplete = incompletePath(folder);
  if (statSync(incomplete, { throwIfNoEntry: false })) return folder;
  writeFileSync(incomplete, "", { mode: 0o600 });
  utimesSync(incomplete, 0, 0);
  return folder;
}

/**
 * The path of a file below the root, with `/`: of the file itself, whatever symlinks its folders
 * are, and the target where the file itself is a symlink that was written through. Undefined for
 * what is not below the root, for git's own folder, and for a name that is not UTF-8.
 */
export function pathBelow(root: string, path: string, throughSymlink = false): string | undefined {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  const keepsLink = isLink && !throughSymlink;
  const real = keepsLink ? join(realPath(dirname(path)), basename(path)) : realPath(path);
  if (real === root || !isBelow(real, root)) return undefined;
  const parts = relative(root, real).split(sep);
  // A name may hold a real U+FFFD.
  const isText = !real.includes("\uFFFD") || lstatSync(real, { throwIfNoEntry: false });
  return isText && !parts.includes(".git") ? parts.join("/") : undefined;
}

/**
 * The file that says by its mtime when a change could not be recorded, as the disk was full. It is made
 * in time; its mtime then takes no space.
 */
export function incompletePath(folder: string): string {
  return join(folder, "incomplete");
}

/** A change could not be recorded, or its record is gone; at the time 0: the user knows of it. Never throws. */
export function noteIncomplete(folder: string, time = new Date()): void {
  // Without a folder there is no review to be incomplete.
  attempt(() => utimesSync(incompletePath(folder), time, time));
}

/** When a change could last not be recorded, in ms since the epoch; undefined: never. */
export function incompleteSince(folder: string): number | undefined {
  return statSync(incompletePath(folder), { throwIfNoEntry: false })?.mtimeMs || undefined;
}
