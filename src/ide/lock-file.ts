import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { claudeFolder } from "../claude/config-dir";
import { writePrivateFile } from "../lib/private-file";
import { isAlive } from "../lib/process";

export const IDE_NAME = "Neovim";

/** What a lock file says (spec: MCP server, Lock File Discovery). Paths are real paths. */
export interface LockContent {
  pid: number;
  workspaceFolders: string[];
  ideName: string;
  transport: "ws";
  runningInWindows: boolean;
  authToken: string;
}

const LockSchema = v.looseObject({ pid: v.number(), ideName: v.string() });

/** Where Claude Code looks for editors. */
export function lockFolder(env: Record<string, string | undefined> = process.env): string {
  return join(claudeFolder(env), "ide");
}

/** The lock file of one port, as long as we serve it. */
export class LockFile {
  readonly path: string;
  #written: string | undefined;

  constructor(port: number, folder: string = lockFolder()) {
    this.path = join(folder, `${port}.lock`);
  }

  /**
   * Writes by rename, so that a reader never sees half a file; mode 600 in a folder of mode 700.
   * Does nothing when the content is the same. Throws the system's error (EACCES, ENOSPC, …).
   */
  write(content: LockContent): void {
    const text = JSON.stringify(content);
    if (text === this.#written && existsSync(this.path)) return;
    writePrivateFile(this.path, text);
    this.#written = text;
  }

  /** Removes the file if it is still the one we wrote. Never throws. */
  remove(): void {
    try {
      if (readFileSync(this.path, "utf8") === this.#written) rmSync(this.path, { force: true });
    } catch {
      // Gone already, which is what we want.
    }
    this.#written = undefined;
  }
}

/**
 * Removes the lock files that dead Neovims left behind, and nobody else's: only files that name
 * "Neovim" and a process that is no longer alive. Returns the paths removed. Never throws.
 */
export function sweepStaleLocks(folder: string = lockFolder()): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names
    .filter((name) => /^\d+\.lock$/.test(name))
    .map((name) => join(folder, name))
    .filter((path) => isStale(path) && removeQuietly(path));
}

function isStale(path: string): boolean {
  try {
    const lock = v.safeParse(LockSchema, JSON.parse(readFileSync(path, "utf8")));
    return lock.success && lock.output.ideName === IDE_NAME && !isAlive(lock.output.pid);
  } catch {
    return false;
  }
}

function removeQuietly(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}
