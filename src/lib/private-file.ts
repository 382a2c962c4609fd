import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Writes a file that only its owner may read, by rename, so that a reader never sees half of it:
 * mode 600 in a folder of mode 700, which is made. Throws the system's error (EACCES, ENOSPC, …).
 */
export function writePrivateFile(path: string, text: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const draft = join(folder, `.${basename(path)}-${process.pid}.tmp`);
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Can nobody but its owner, who we are, have written the file? Throws the system's error. */
export function isPrivateFile(path: string): boolean {
  const { uid, mode } = statSync(path);
  return process.platform === "win32" || (uid === process.getuid?.() && (mode & 0o022) === 0);
}
