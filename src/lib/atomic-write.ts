import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { draftOf } from "./drafts";

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
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  replace(path, (draft) => writeFileSync(draft, text, { mode: 0o600, flag: "wx" }));
}

/** The text of a file that nobody but its owner, who we are, can have written; undefined for any other. */
export function readPrivateFile(path: string): string | undefined {
  try {
    const { uid, mode } = statSync(path);
    const isOurs = uid === process.getuid?.() && (mode & 0o022) === 0;
    return isOurs || process.platform === "win32" ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
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
