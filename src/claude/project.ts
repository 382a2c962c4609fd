import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** Claude Code takes a git repository's top folder for the project, else the working folder. */
export function projectFolder(cwd: string): string {
  return gitTop(cwd) ?? cwd;
}

/** The top of the git repository around a folder. */
export function gitTop(folder: string): string | undefined {
  for (let top = folder; ; top = dirname(top)) {
    if (existsSync(join(top, ".git"))) return top;
    if (dirname(top) === top) return undefined;
  }
}
