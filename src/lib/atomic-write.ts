import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { attempt } from "./errors";
import { namesIn, realPath, removeFile } from "./paths";
import { dirname, IS_WINDOWS, join } from "./platform";
import { makePrivateFolder } from "./private-folder";
import { readText } from "./read-regular";

/** A draft holds a file's new content, in the same folder and file system, until a rename replaces the file. */
const DRAFT = /^\.claude-code-nvim\.[0-9a-f]{8}\.tmp$/;
/** If a draft is older than this, in ms, the process that wrote it was killed. */
const OLD_MS = 10 * 60_000;

/** A path for a draft of `path`. Leaves out the file's own name, which may be as long as a name can be. */
export function draftOf(path: string): string {
  return join(dirname(path), `.claude-code-nvim.${crypto.randomUUID().slice(0, 8)}.tmp`);
}

/** Removes the drafts that killed processes left in `folder`, except for `others`. Never throws. */
export function removeOldDrafts(
  folder: string,
  now = Date.now(),
  others?: ReadonlySet<string>,
): void {
  removeOld(folder, DRAFT, now, others);
}

/** The same for files and folders with other names. */
export function removeOld(
  folder: string,
  pattern: RegExp,
  now = Date.now(),
  others?: ReadonlySet<string>,
): void {
  const names = namesIn(folder).filter((name) => pattern.test(name) && !others?.has(name));
  // We may lack the permission.
  attempt(() => {
    for (const path of names.map((name) => join(folder, name))) {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      const isOld = stats && !stats.isSymbolicLink() && now - stats.mtimeMs > OLD_MS;
      if (isOld) rmSync(path, { recursive: true, force: true });
    }
  });
}

/** Drops setuid and setgid: new content must not run with the rights of the old. */
export function keptMode(stats: Stats): number {
  return stats.mode & 0o1777;
}

/** Writes a file that only its owner may read, in a folder that only its owner may enter. Throws the system's error. */
export function writePrivateFile(path: string, text: string): void {
  const folder = dirname(path);
  makePrivateFolder(folder);
  replace(path, (draft) => writeFileSync(draft, text, { mode: 0o600, flag: "wx" }));
}

/**
 * Replaces the file at `path` with the draft that `make` creates, by a rename. Readers never see half a file, and
 * running programs keep the old one. Throws the error of `make` or the system, and leaves the file unchanged then.
 */
export function replace(path: string, make: (draft: string) => void): void {
  const draft = draftOf(path);
  try {
    make(draft);
    unlessHeld(path, () => renameSync(draft, path));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Windows refuses to replace a file that another program has open. Scanners close it soon. In ms. */
const PAUSES_MS = IS_WINDOWS ? [10, 20, 40, 80, 160] : [];

/** Tries again after each pause. Throws an error for the user, with the system's code, if the file stays open. */
export function unlessHeld(path: string, replace: () => void, pauses = PAUSES_MS): void {
  for (const pause of pauses) {
    try {
      return replace();
    } catch (error) {
      if (!isHeld(error)) throw error;
      Bun.sleepSync(pause);
    }
  }
  try {
    replace();
  } catch (error) {
    if (pauses.length === 0 || !isHeld(error)) throw error;
    const text = `another program has ${path} open, or it is read-only: close it there, and try again`;
    throw Object.assign(new Error(text), { code: (error as NodeJS.ErrnoException).code });
  }
}

function isHeld(error: unknown): boolean {
  return ["EPERM", "EACCES", "EBUSY"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** Writes a file as `rewrite` does. Makes missing folders, and writes through a symlink. Throws the system's error. */
export function writeText(path: string, text: string): void {
  const file = realPath(path);
  mkdirSync(dirname(file), { recursive: true });
  rewrite(file, Buffer.from(text), statSync(file, { throwIfNoEntry: false }));
}

/**
 * Writes a file that is not a symlink. Keeps its owner, its hard links and, except for setuid and setgid, its mode,
 * unless `mode` is given. `stats` describes the file, and is undefined for a new one. Throws the system's error. The
 * file is unchanged then, unless it has several hard links.
 */
export function rewrite(
  file: string,
  bytes: Uint8Array,
  stats: Stats | undefined,
  mode = stats && keptMode(stats),
): void {
  const inPlace = (old: Stats) => unlessHeld(file, () => writeInPlace(file, bytes, old, mode));
  if (stats && stats.nlink > 1) return inPlace(stats);
  try {
    replace(file, (name) => {
      // Use the descriptor, since another file may replace the draft at any moment.
      const draft = openSync(name, "wx", mode);
      try {
        writeFileSync(draft, bytes);
        if (stats && !IS_WINDOWS) fchownSync(draft, stats.uid, stats.gid);
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

/** A file that only its owner may read, and that exists while we run. */
export class OwnFile {
  #written: string | undefined;

  constructor(readonly path: string) {}

  /** Writes by a rename, which takes a millisecond, unless the file has this text. Throws the system's error. */
  write(text: string): void {
    if (text === this.#written && existsSync(this.path)) return;
    writePrivateFile(this.path, text);
    this.#written = text;
  }

  /** Removes the file if it still has our text. Never throws. */
  remove(): void {
    if (this.#written !== undefined && readText(this.path) === this.#written) removeFile(this.path);
  }
}
