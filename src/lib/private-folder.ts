import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  type Stats,
  statSync,
} from "node:fs";
import { attempt } from "./errors";
import { isBelow, stateFolder } from "./paths";
import { dirname, IS_WINDOWS } from "./platform";
import { readRange, withRegular } from "./read-regular";

/**
 * Makes a folder that only its owner may enter. It gets mode 700, whatever the umask is, and so do its parents up to
 * the state folder if it is in there. Throws the system's error, and an Error if a folder in the state folder belongs
 * to another user: we trust the files there.
 */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (IS_WINDOWS) return;
  const isState = isBelow(folder, stateFolder());
  const top = isState ? stateFolder() : folder;
  for (let one = folder; isBelow(one, top); one = dirname(one)) {
    const stats = statSync(one);
    if (isState && !isOwn(stats)) throw new Error(`${one} belongs to another user: move it away`);
    if (stats.mode & 0o077) chmodSync(one, 0o700);
  }
}

/** True on Windows, which has no user ids. */
export function isOwn({ uid }: Stats): boolean {
  return IS_WINDOWS || uid === process.getuid?.();
}

const { O_WRONLY, O_CREAT, O_APPEND, O_NONBLOCK = 0 } = constants;
/** Flags of open(2) for appending. A missing file is created; a FIFO is an error (ENXIO). */
export const APPENDING = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK;

/** Creates an empty file, unless it exists. Throws the system's error. */
export function touch(path: string): void {
  closeSync(openSync(path, APPENDING, 0o600));
}

/** The text of a regular file that only our own user can have written; undefined for any other file. */
export function readPrivateFile(path: string): string | undefined {
  const read = (file: number, size: number) => {
    const stats = fstatSync(file);
    const isShared = !IS_WINDOWS && (stats.mode & 0o022) !== 0;
    return isOwn(stats) && !isShared ? readRange(file, 0, size).toString() : undefined;
  };
  return attempt(() => withRegular(path, read));
}
