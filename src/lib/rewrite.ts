import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
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
 * Gives the file at `path` a text, as `rewrite` does. Folders are made, a symlink stays one: its target is written.
 * Throws the system's error.
 */
export function writeText(path: string, text: string): void {
  const file = realPath(path);
  mkdirSync(dirname(file), { recursive: true });
  rewrite(file, Buffer.from(text), statSync(file, { throwIfNoEntry: false }));
}

/**
 * Writes a file's bytes so that its owner, hard links and mode stay, but for setuid and setgid, unless it gets another
 * `mode`. `stats`: lstat's of the file, which is not a symlink; undefined for a new one. Throws the system's error; the
 * file is then as it was, unless it has several names.
 */
export function rewrite(
  file: string,
  bytes: Uint8Array,
  stats: Stats | undefined,
  mode = stats && keptMode(stats),
): void {
  const inPlace = (old: Stats) => writeInPlace(file, bytes, old, mode);
  if (stats && stats.nlink > 1) return inPlace(stats);
  try {
    replace(file, (name) => {
      // By its descriptor: another file may take the draft's name at once.
      const draft = openSync(name, "wx", mode);
      try {
        writeFileSync(draft, bytes);
        if (stats && process.platform !== "win32") fchownSync(draft, stats.uid, stats.gid);
        if (mode !== undefined) fchmodSync(draft, mode);
      } finally {
        closeSync(draft);
      }
    });
  } catch (error) {
    // The new file cannot get the owner and group of the old one: that one is written.
    const { code } = error as NodeJS.ErrnoException;
    if (!stats || (code !== "EPERM" && code !== "EACCES")) throw error;
    inPlace(stats);
  }
}

/** Refuses to write if another file (or a symlink, or a FIFO) has taken its place. */
function writeInPlace(
  file: string,
  bytes: Uint8Array,
  stats: Stats,
  mode: number | undefined,
): void {
  const { O_WRONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const descriptor = openSync(file, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { dev, ino } = fstatSync(descriptor);
    if (dev !== stats.dev || ino !== stats.ino) throw new Error("another file is in its place now");
    ftruncateSync(descriptor);
    writeFileSync(descriptor, bytes);
    if (mode !== undefined && mode !== (stats.mode & 0o7777)) fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
}
