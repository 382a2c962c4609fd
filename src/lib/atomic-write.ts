import { renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { draftOf } from "./drafts";
import { makePrivateFolder } from "./private-folder";

/** Without setuid and setgid: other content would run with the rights of the old one. */
export function keptMode(stats: Stats): number {
  return stats.mode & 0o1777;
}

/**
 * Writes a file that only its owner may read: mode 600 in a folder of mode 700, which is made.
 * Throws the system's error (EACCES, ENOSPC, …).
 */
export function writePrivateFile(path: string, text: string): void {
  const folder = dirname(path);
  makePrivateFolder(folder);
  replace(path, (draft) => writeFileSync(draft, text, { mode: 0o600, flag: "wx" }));
}

/**
 * Puts what `make` makes in place of the file at `path`, by a rename: no reader ever sees half of
 * it, and a program that runs keeps its file. Throws what `make` and the system throw; the file is
 * then as it was.
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
