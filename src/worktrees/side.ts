import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { keptMode } from "../lib/atomic-write";
import { message } from "../lib/errors";
import { realPath } from "../lib/paths";
import { readRegular } from "../lib/read-regular";

/** The most that an edit of many files writes into one. */
const MOST_BYTES = 10 * 1024 * 1024;

/** A file at one of three places: in the worktree, here, or where both began. */
export interface Side {
  /** Of a symlink its target. Undefined where a filter of git's would make them, or with a problem. */
  bytes: Uint8Array | undefined;
  mode: number;
  symlink: boolean;
  /** Why nothing can be done with it. */
  problem?: string;
}

/**
 * What stands at a path below `root`, which is a real path; no symlink is followed. Undefined: nothing.
 * `where`: "here" or "there".
 */
export function sideOf(root: string, path: string, where: string): Side | undefined {
  const full = join(root, path);
  try {
    if (path.includes("\uFFFD")) throw new Error("its name is not in UTF-8");
    if (realPath(dirname(full)) !== dirname(full)) throw new Error("it lies behind a symlink");
    const stats = lstatSync(full, { throwIfNoEntry: false });
    if (!stats) return undefined;
    const symlink = stats.isSymbolicLink();
    if (stats.isDirectory()) throw new Error("it is a folder or a submodule");
    const bytes = symlink ? Buffer.from(readlinkSync(full)) : readRegular(full, MOST_BYTES);
    return { bytes, mode: keptMode(stats), symlink };
  } catch (error) {
    return { bytes: undefined, mode: 0, symlink: false, problem: `${where}: ${message(error)}` };
  }
}

/** Whether the owner may execute it, which is all that git keeps of a mode. */
export function isExecutable(side: Side | undefined): boolean {
  if (!side || side.symlink || process.platform === "win32") return false;
  return (side.mode & 0o100) !== 0;
}

/** The mode of a file that is there or not, once it may be executed or not. */
export function modeOf(side: Side | undefined, executable: boolean): number {
  const mode = side?.mode ?? 0o666 & ~process.umask();
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

/** Whether both hold the same; what has no bytes is the same as nothing. */
export function isSame(a: Side | undefined, b: Side | undefined): boolean {
  if (!a?.bytes || !b?.bytes) return a === b;
  const hasSameBytes = Buffer.compare(a.bytes, b.bytes) === 0;
  return hasSameBytes && a.symlink === b.symlink && isExecutable(a) === isExecutable(b);
}
