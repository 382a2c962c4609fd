import { existsSync, lstatSync, renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { attempt } from "./errors";
import { namesIn, removeFile } from "./paths";
import { makePrivateFolder } from "./private-folder";
import { readText } from "./read-regular";

/** A draft has the new content of a file, beside it on the same file system, until a rename replaces the file. */
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
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
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
