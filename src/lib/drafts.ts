import { lstatSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

/** The new text of a file, until it takes the file's place: beside it, on the same file system. */
const DRAFT = /^\.claude-code-nvim\.[0-9a-f]{8}\.tmp$/;
/** Whoever writes one so long has been killed. */
const OLD_MS = 10 * 60_000;

/** A path for a draft of `path`. Without the file's own name, which may be as long as a name can be. */
export function draftOf(path: string): string {
  return join(dirname(path), `.claude-code-nvim.${crypto.randomUUID().slice(0, 8)}.tmp`);
}

export function isDraft(name: string): boolean {
  return DRAFT.test(name);
}

/** Removes the drafts in `folder` that processes have left which were killed. Never throws. */
export function removeOldDrafts(folder: string, now = Date.now()): void {
  removeOld(folder, DRAFT, now);
}

/** The same for files and folders with other names. */
export function removeOld(folder: string, pattern: RegExp, now = Date.now()): void {
  try {
    for (const name of readdirSync(folder).filter((one) => pattern.test(one))) {
      const path = join(folder, name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats && !stats.isSymbolicLink() && now - stats.mtimeMs > OLD_MS) {
        rmSync(path, { recursive: true, force: true });
      }
    }
  } catch {
    // No such folder, or no right to write there.
  }
}
