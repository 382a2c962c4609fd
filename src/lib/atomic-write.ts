import { existsSync, lstatSync, renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { attempt } from "./errors";
import { namesIn, removeFile } from "./paths";
import { makePrivateFolder } from "./private-folder";
import { readText } from "./read-regular";

/** The new text of a file, until it takes the file's place: beside it, on the same file system. */
const DRAFT = /^\.claude-code-nvim\.[0-9a-f]{8}\.tmp$/;
/** The process that wrote a draft this old was killed. */
const OLD_MS = 10 * 60_000;

/** A path for a draft of `path`. Without the file's own name, which may be as long as a name can be. */
export function draftOf(path: string): string {
  return join(dirname(path), `.claude-code-nvim.${crypto.randomUUID().slice(0, 8)}.tmp`);
}

/** Removes the drafts in `folder` that killed processes have left, but for `others`. Never throws. */
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
  // There may be no right to write there.
  attempt(() => {
    for (const path of names.map((name) => join(folder, name))) {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      const isOld = stats && !stats.isSymbolicLink() && now - stats.mtimeMs > OLD_MS;
      if (isOld) rmSync(path, { recursive: true, force: true });
    }
  });
}

/** Without setuid and setgid: other content would run with the rights of the old one. */
export function keptMode(stats: Stats): number {
  return stats.mode & 0o1777;
}

/**
 * Writes a file that only its owner may read: mode 600 in a folder of mode 700, which is made. Throws the system's
 * error (EACCES, ENOSPC, …).
 */
export function writePrivateFile(path: string, text: string): void {
  const folder = dirname(path);
  makePrivateFolder(folder);
  replace(path, (draft) => writeFileSync(draft, text, { mode: 0o600, flag: "wx" }));
}

/**
 * Puts what `make` makes in place of the file at `path`, by a rename: no reader ever sees half of it, and a program
 * that runs keeps its file. Throws what `make` and the system throw; the file is then as it was.
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

/** A file that only its owner may read, which we write and remove while we run. */
export class OwnFile {
  #written: string | undefined;

  constructor(readonly path: string) {}

  /** Writes by rename, but not again what is there: that costs a millisecond. Throws the system's error. */
  write(text: string): void {
    if (text === this.#written && existsSync(this.path)) return;
    writePrivateFile(this.path, text);
    this.#written = text;
  }

  /** Removes the file if it is still the one we wrote. Never throws. */
  remove(): void {
    if (this.#written !== undefined && readText(this.path) === this.#written) removeFile(this.path);
  }
}
