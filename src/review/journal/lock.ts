import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { isAlive } from "../../lib/process";

/** Longer than any work under a lock. The holder's process may be one of another container. */
const STALE_MS = 10 * 60_000;
const DEAD_MS = 10_000;

/**
 * Runs `work` as the only process that does so under this name. Returns false, without running it, if
 * another one does.
 */
export function withLock(path: string, work: () => void): boolean {
  if (!take(path)) return false;
  try {
    work();
  } finally {
    rmSync(path, { force: true });
  }
  return true;
}

function take(path: string): boolean {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(path, String(process.pid), { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (!breakStale(path)) return false;
  }
  return false;
}

/** Whoever held it was killed. */
function breakStale(path: string): boolean {
  try {
    const age = Date.now() - statSync(path).mtimeMs;
    const pid = Number(readFileSync(path, "utf8"));
    if (age < STALE_MS && (age < DEAD_MS || isAlive(pid))) return false;
    // By a rename only one of several gets it.
    const grave = `${path}.${crypto.randomUUID().slice(0, 8)}`;
    renameSync(path, grave);
    rmSync(grave, { force: true });
    return true;
  } catch {
    return true;
  }
}

/** The holder is at work still. */
export function touchLock(path: string): void {
  const now = new Date();
  utimesSync(path, now, now);
}
