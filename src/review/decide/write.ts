import { chmodSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { rewrite } from "../../lib/rewrite";
import { isInside } from "../journal/folder";
import { readOnDisk } from "../state/disk";
import type { Lines } from "../weave/lines";
import { sameLines } from "../weave/lines";

/** A file is not as it was when the user decided: nothing was written. */
export class ChangedError extends Error {
  override readonly name = "ChangedError";
}

/** What to make of a file. */
export interface Writing {
  /** Relative to the root. */
  path: string;
  /** What has to stand there, to the byte. */
  expected: Lines;
  /** Undefined: the file goes. */
  bytes: Uint8Array | undefined;
  /** Permission bits, where they change. */
  mode?: number | undefined;
}

/**
 * Writes a file below the root, or removes it, if it still is what the user has seen. Its mode, owner
 * and hard links stay. Throws ChangedError, and the system's error; the file is then as it was.
 */
export function writeBelow(root: string, { path, expected, bytes, mode }: Writing): void {
  const file = join(root, path);
  const now = readOnDisk(root, path);
  if (!("lines" in now)) throw new ChangedError(`${path} ${now.problem}`);
  if (!sameLines(now.lines, expected)) {
    throw new ChangedError(`${path} has changed since it was shown`);
  }
  if (bytes === undefined) return rmSync(file, { force: true });
  mkdirSync(dirname(file), { recursive: true });
  if (!isInside(root, file)) throw new ChangedError(`${path} is not inside of the project`);
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) throw new ChangedError(`${path} is a symlink`);
  rewrite(file, bytes, stats);
  if (mode !== undefined) chmodSync(file, mode);
}

/** Sets the permission bits of a file below the root; a symlink is left alone. */
export function setMode(root: string, path: string, mode: number): void {
  const file = join(root, path);
  if (isInside(root, file) && lstatSync(file).isFile()) chmodSync(file, mode);
}
