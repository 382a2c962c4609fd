import { linkSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { draftOf, unlessHeld } from "./atomic-write";
import { dirname } from "./platform";
import { makePrivateFolder } from "./private-folder";
import { isGone, ownProcess } from "./process";
import { readText } from "./read-regular";

/** In ms, longer than any work under a lock. We cannot know whether a holder in another container still runs. */
const STALE_MS = 10 * 60_000;
const RETRY_MS = 20;

/** Holds a lock until it is disposed of, or we end. Undefined if another process has it. Throws the system's error. */
export function tryLock(path: string): Disposable | undefined {
  makePrivateFolder(dirname(path));
  const { pid, domain } = ownProcess();
  const holder = `${pid} ${domain} ${crypto.randomUUID()}`;
  if (!take(path, holder)) return undefined;
  return { [Symbol.dispose]: () => release(path, holder) };
}

/** As `tryLock`, but waits for the lock for up to `ms`. */
export async function waitForLock(path: string, ms: number): Promise<Disposable | undefined> {
  const end = performance.now() + ms;
  for (;;) {
    const lock = tryLock(path);
    if (lock || performance.now() >= end) return lock;
    await Bun.sleep(RETRY_MS);
  }
}

function take(path: string, holder: string): boolean {
  return create(path, holder) || takeOver(path, holder);
}

/** Links a draft to the lock's name, so the lock never exists without its holder's name. */
function create(path: string, holder: string): boolean {
  const draft = draftOf(path);
  try {
    writeFileSync(draft, holder, { flag: "wx", mode: 0o600 });
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Takes over the lock of a holder that was killed. Other processes may try the same, so we first take a second lock,
 * which is named after that holder.
 */
function takeOver(path: string, holder: string): boolean {
  const old = readText(path);
  if (old === undefined) return create(path, holder);
  const turn = `${path}.${Bun.hash(old).toString(16).padStart(16, "0").slice(-8)}`;
  if (!isStale(path, old) || !take(turn, holder)) return false;
  const isThere = readText(path) === old;
  if (isThere) unlessHeld(path, () => renameSync(turn, path));
  else release(turn, holder);
  return isThere;
}

/** Does nothing if another process has taken the lock over, because we held it too long. */
function release(path: string, holder: string): void {
  if (readText(path) === holder) rmSync(path, { force: true });
}

function isStale(path: string, holder: string): boolean {
  const [pid, domain] = holder.split(" ");
  if (isGone({ pid: Number(pid), domain })) return true;
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs >= STALE_MS;
}
