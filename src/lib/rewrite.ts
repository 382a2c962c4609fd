import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { keptMode, replace } from "./atomic-write";
import { realPath } from "./paths";

/**
 * Gives the file at `path` a text, as `rewrite` does. Folders are made, a symlink stays one: its target is
 * written. Throws the system's error.
 */
export function writeText(path: string, text: string): void {
  const file = realPath(path);
  mkdirSync(dirname(file), { recursive: true });
  rewrite(file, Buffer.from(text), statSync(file, { throwIfNoEntry: false }));
}

/**
 * Writes a file's bytes so that its mode (but for setuid and setgid), owner and hard links stay.
 * `stats`: lstat's of the file, which is no symlink; undefined for a new one. Throws the system's
 * error; the file is then as it was, unless it has several names.
 */
export function rewrite(file: string, bytes: Uint8Array, stats: Stats | undefined): void {
  if (stats && stats.nlink > 1) return writeInPlace(file, bytes, stats);
  try {
    replace(file, (draft) => writeLike(draft, bytes, stats));
  } catch (error) {
    // The new file cannot get the owner and group of the old one: that one is written.
    if (!stats || !isDenied(error)) throw error;
    writeInPlace(file, bytes, stats);
  }
}

/** Makes a file with the owner and mode of another one. Throws the system's error. */
function writeLike(draft: string, bytes: Uint8Array, stats: Stats | undefined): void {
  const mode = stats && keptMode(stats);
  writeFileSync(draft, bytes, { flag: "wx", ...(mode !== undefined && { mode }) });
  if (stats && process.platform !== "win32") chownSync(draft, stats.uid, stats.gid);
  if (mode !== undefined) chmodSync(draft, mode);
}

function isDenied(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EPERM" || code === "EACCES";
}

/** Refuses to write if another file (or a symlink, or a FIFO) has taken its place. */
function writeInPlace(file: string, bytes: Uint8Array, stats: Stats): void {
  const { O_WRONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const descriptor = openSync(file, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { dev, ino } = fstatSync(descriptor);
    if (dev !== stats.dev || ino !== stats.ino) throw new Error("another file is in its place now");
    ftruncateSync(descriptor);
    writeFileSync(descriptor, bytes);
    if (stats.mode & 0o6000) fchmodSync(descriptor, keptMode(stats));
  } finally {
    closeSync(descriptor);
  }
}
