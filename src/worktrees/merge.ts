import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { keptMode } from "../lib/atomic-write";
import { below } from "../lib/below";
import { message } from "../lib/errors";
import { IS_WINDOWS, join } from "../lib/platform";
import type { CommittedFile } from "../review/git/committed";
import type { GitWork } from "../review/git/run";

const MERGE_MS = 20_000;
/** A greater exit code of git means that it cannot merge, for example binary files; others count the conflicts. */
const MAX_CONFLICTS = 127;
const NOTHING: Side = { bytes: new Uint8Array(), mode: 0, symlink: false };

/**
 * Merges the changes of the worktree `name` into a file here. If it returns a `conflict`, a sentence, then the file has
 * conflict markers or is unchanged.
 */
export function* merge(
  { ours, base, theirs }: Record<"ours" | "base" | "theirs", Side | undefined>,
  name: string,
): GitWork<{ after: Side | undefined; conflict?: string }> {
  if (isSame(ours, theirs) || isSame(theirs, base)) return { after: ours };
  const stays = (conflict: string) => ({ after: ours, conflict });
  if ([ours, base, theirs].some((side) => side?.symlink)) return stays("it is, or was, a symlink");
  if ([base, theirs].some((side) => side && !side.bytes))
    return stays("a git filter produces its text, as with LFS");
  if (isSame(ours, base)) {
    if (!theirs) return { after: undefined };
    const like = ours ?? { ...theirs, mode: theirs.mode & ~process.umask() };
    return { after: { ...theirs, mode: modeOf(like, isExecutable(theirs)) } };
  }
  if (hasMarkers(ours) && !hasMarkers(theirs)) return stays("it still has conflict markers");
  if (!theirs) return stays(`${name} deleted it, and it was changed here`);
  if (!ours) return stays(`${name} changed it, and it was deleted here`);
  const changesMode = !base || isExecutable(theirs) !== isExecutable(base);
  const mode = modeOf(ours, isExecutable(changesMode ? theirs : ours));
  const text = yield* mergeTexts([ours, base ?? NOTHING, theirs], name);
  if (!text) return stays("both changed it, and git merges only texts");
  const what = base ? "both changed the same lines" : "both added it";
  return {
    after: { bytes: text.bytes, mode, symlink: false },
    ...(text.conflicts > 0 && { conflict: what }),
  };
}

/** Undefined if git cannot merge them. */
function* mergeTexts(
  sides: readonly Side[],
  name: string,
): GitWork<{ bytes: Uint8Array; conflicts: number } | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "claude-code-nvim-"));
  try {
    const files = sides.map(({ bytes }, index) => {
      const file = join(folder, String(index));
      writeFileSync(file, bytes ?? "");
      return file;
    });
    const labels = ["here", "branch point", name].flatMap((label) => ["-L", label]);
    const args = ["merge-file", "-p", ...labels, ...files];
    const { code, stdout } = yield { args, ms: MERGE_MS };
    const isMerged = code !== null && code <= MAX_CONFLICTS;
    return isMerged ? { bytes: stdout, conflicts: code } : undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The maximum size of one file. */
const MAX_BYTES = 10 * 1024 * 1024;

/** Two work trees of one repository, by the real paths of their tops. */
export interface Trees {
  /** The one here. */
  root: string;
  /** The linked one. */
  path: string;
}

/** A file in both work trees; `path` is relative to them. */
export interface Both {
  path: string;
  ours: Side | undefined;
  theirs: Side | undefined;
}

/** A file that is to change here. */
export interface Coming extends Both {
  /** The file after the merge. */
  after: Side | undefined;
  /** `after` without the changes that wait for a review there. The user knows this text. */
  reviewed: Side | undefined;
}

/** A file in one of three states: in the worktree, here, or at the branch point. With a problem, it has no bytes. */
export interface Side extends CommittedFile {
  /** Why we cannot merge the file. */
  problem?: string;
}

/**
 * Reads a file below `root`, a real path, without following symlinks. Undefined if the file does not exist. `where` is
 * "here" or "there", for messages.
 */
export function sideOf(root: string, path: string, where: string): Side | undefined {
  try {
    if (path.includes("\uFFFD")) throw new Error("its name is not in UTF-8");
    const found = below(root, path, (place) => {
      if (place.stats()?.isDirectory()) throw new Error("it is a folder or a submodule");
      return place.read(MAX_BYTES);
    });
    if (!found) return undefined;
    const { bytes, stats } = found;
    return { bytes, mode: keptMode(stats), symlink: stats.isSymbolicLink() };
  } catch (error) {
    return { bytes: undefined, mode: 0, symlink: false, problem: `${where}: ${message(error)}` };
  }
}

/** Whether the file has unresolved conflict markers of an earlier merge. */
function hasMarkers(side: Side | undefined): boolean {
  return Buffer.from(side?.bytes ?? "").includes("<<<<<<< here");
}

/** Whether the owner may execute the file. git records no other permission. */
export function isExecutable(side: Side | undefined): boolean {
  if (!side || side.symlink || IS_WINDOWS) return false;
  return (side.mode & 0o100) !== 0;
}

/** Preserves read and write permissions, which git does not record. */
function modeOf(side: Side, executable: boolean): number {
  const { mode } = side;
  if (isExecutable(side) === executable) return mode;
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

/** Whether both files are equal. */
export function isSame(a: Side | undefined, b: Side | undefined): boolean {
  if (!a?.bytes || !b?.bytes) return a === b;
  const hasSameBytes = Buffer.compare(a.bytes, b.bytes) === 0;
  return hasSameBytes && a.symlink === b.symlink && isExecutable(a) === isExecutable(b);
}
