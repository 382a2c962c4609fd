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
import { dirname } from "node:path";
import { attempt } from "./errors";
import { isBelow, stateFolder } from "./paths";
import { readRange, withRegular } from "./read-regular";

/**
 * Makes a folder that only its owner may enter: it and, where it lies in the state folder, those above it up to that
 * one get mode 700, whatever the umask is or was. Throws the system's error, and an Error where one in the state folder
 * belongs to another user, who could put there what we would believe.
 */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform === "win32") return;
  const isState = isBelow(folder, stateFolder());
  const top = isState ? stateFolder() : folder;
  for (let one = folder; isBelow(one, top); one = dirname(one)) {
    const stats = statSync(one);
    if (isState && !isOwn(stats)) throw new Error(`${one} belongs to another user: move it away`);
    if (stats.mode & 0o077) chmodSync(one, 0o700);
  }
}

/** Does it belong to us? True on Windows, which has no such owners. */
export function isOwn({ uid }: Stats): boolean {
  return process.platform === "win32" || uid === process.getuid?.();
}

const { O_WRONLY, O_CREAT, O_APPEND, O_NONBLOCK = 0 } = constants;
/** To open a file at whose end something is written: it is made, and a FIFO in its place is an error (ENXIO). */
export const APPENDING = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK;

/** Makes an empty file, unless one is there. Throws the system's error. */
export function touch(path: string): void {
  closeSync(openSync(path, APPENDING, 0o600));
}

/** The text of a regular file that only we, its owner, can have written; undefined for any other. */
export function readPrivateFile(path: string): string | undefined {
  const read = (file: number, size: number) => {
    const stats = fstatSync(file);
    const isShared = process.platform !== "win32" && (stats.mode & 0o022) !== 0;
    return isOwn(stats) && !isShared ? readRange(file, 0, size).toString() : undefined;
  };
  return attempt(() => withRegular(path, read));
}
