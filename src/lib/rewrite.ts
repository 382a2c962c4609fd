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

/** Writes a file as `rewrite` does. Makes missing folders, and writes through a symlink. Throws the system's error. */
export function writeText(path: string, text: string): void {
  const file = realPath(path);
  mkdirSync(dirname(file), { recursive: true });
  rewrite(file, Buffer.from(text), statSync(file, { throwIfNoEntry: false }));
}

/**
 * Writes a file that is not a symlink. Its owner, its hard links and, except for setuid and setgid, its mode stay,
 * unless `mode` is given. `stats` are those of the file; undefined for a new one. Throws the system's error. The file
 * is unchanged then, unless it has several hard links.
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
      // Use the descriptor, since another file may replace the draft at any moment.
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
    // The draft cannot get the owner and group of the file, so write the file itself.
    const { code } = error as NodeJS.ErrnoException;
    if (!stats || (code !== "EPERM" && code !== "EACCES")) throw error;
    inPlace(stats);
  }
}

/** Throws if another file, a symlink or a FIFO has replaced the file. */
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
