import {
  linkSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { draftOf } from "./drafts";
import { isAlive } from "./process";

/** Longer than any work under a lock: of a holder in another container nobody knows whether it runs. */
const STALE_MS = 10 * 60_000;
const RETRY_MS = 20;

/**
 * Takes the lock of this name: no other process has it until it is disposed of, or this process is
 * killed. Undefined if another process has it. Throws the system's error.
 */
export function tryLock(path: string): Disposable | undefined {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!create(path) && !(breakStale(path) && create(path))) return undefined;
  return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
}

/** As `tryLock`; undefined if another process has had the lock for all of `ms`. */
export async function waitForLock(path: string, ms: number): Promise<Disposable | undefined> {
  const end = performance.now() + ms;
  for (;;) {
    const lock = tryLock(path);
    if (lock || performance.now() >= end) return lock;
    await Bun.sleep(RETRY_MS);
  }
}

/** By a link, so that it never stands there without its holder. */
function create(path: string): boolean {
  const draft = draftOf(path);
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
    const holder = readFileSync(path, "utf8");
    const [pid, space] = holder.split(" ");
    const isDead = space === processSpace() && !runs(Number(pid));
    if (!isDead && age < STALE_MS) return false;
    // By a rename only one of several gets it.
    const grave = `${path}.${crypto.randomUUID().slice(0, 8)}`;
    renameSync(path, grave);
    // Another process broke it first, and this is the new holder's.
    if (readFileSync(grave, "utf8") !== holder) linkSync(grave, path);
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
