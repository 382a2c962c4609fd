import {
  linkSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { isAlive } from "../../lib/process";

/** Longer than any work under a lock: of a holder in another container nobody knows whether it runs. */
const STALE_MS = 10 * 60_000;

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
    if (create(path)) return true;
    if (!breakStale(path)) return false;
  }
  return false;
}

/** By a link, so that it never stands there without its holder. */
function create(path: string): boolean {
  const draft = join(dirname(path), `.claude-code-nvim.${crypto.randomUUID().slice(0, 8)}.tmp`);
  try {
    writeFileSync(draft, `${process.pid} ${processSpace()}`, { flag: "wx", mode: 0o600 });
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Whoever held it was killed. */
function breakStale(path: string): boolean {
  try {
    const age = Date.now() - statSync(path).mtimeMs;
    const [pid, space] = readFileSync(path, "utf8").split(" ");
    const isDead = space === processSpace() && !runs(Number(pid));
    if (!isDead && age < STALE_MS) return false;
    // By a rename only one of several gets it.
    const grave = `${path}.${crypto.randomUUID().slice(0, 8)}`;
    renameSync(path, grave);
    rmSync(grave, { force: true });
    return true;
  } catch {
    return true;
  }
}

/** A process that was killed keeps its id until its parent has noticed, which not every container's does. */
function runs(pid: number): boolean {
  if (!isAlive(pid)) return false;
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
}

/** Where process ids mean the same: the pid namespace, elsewhere the machine. */
function processSpace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return hostname();
  }
}
