import { lstatSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writePrivateFile } from "../../lib/atomic-write";
import { readPrivateJson } from "../../lib/json";
import { namesIn } from "../../lib/paths";
import { isGone, ownProcess } from "../../lib/process";
import { type Entries, headOf, indexInfo, rawChanges } from "../git/committed";
import { Git, type GitOptions, type GitWork } from "../git/run";
import { DAY_MS } from "../journal/prune";
import { git, MAX_MS, RAW, stagedSince } from "./plan";

/** Another git holds the index for a moment. */
const LOCKED_MS = 5_000;
const RETRY_MS = 50;
/** Begins the name of a commit's folder, which is in the review's. */
export const FOLDER = "commit-";
const NOTE = "follow.json";

/** The work tree's index is behind a commit until it has the commit's entries. */
interface PendingIndexUpdate {
  /** The repository's folder. */
  root: string;
  /** Before the commit; null: there was none. */
  head: string | null;
  tree: string;
  /** Entries of the index that differ from that tree and are to follow all the same: Claude's and ours. */
  known: Entries;
}

type Owner = ReturnType<typeof ownProcess>;

/** When git may try again after a failure, by folder and by performance.now(). */
const retries = new Map<string, number>();

/** Writes it down for the next start: git continues where this process is killed. Throws the system's error. */
export function savePending(folder: string, { known, ...pending }: PendingIndexUpdate): void {
  const text = JSON.stringify({ ...pending, known: [...known], owner: ownProcess() });
  writePrivateFile(join(folder, NOTE), text);
}

/**
 * Does what processes that were killed have left to do in the review's folder. Returns whether git has failed, so
 * that a later call may do it. Never throws.
 */
export async function finishPending(reviewFolder: string): Promise<boolean> {
  let fails = false;
  for (const name of namesIn(reviewFolder).filter((one) => one.startsWith(FOLDER))) {
    const folder = join(reviewFolder, name);
    const found = readPrivateJson(join(folder, NOTE));
    const { owner, ...pending } = (found ?? {}) as unknown as PendingIndexUpdate & {
      owner?: Owner;
    };
    const at = lstatSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (owner && !isGone(owner)) continue;
    const isLater = performance.now() < (retries.get(folder) ?? 0);
    fails ||= isLater;
    if (isLater) continue;
    pending.known = new Map(pending.known);
    const isDone = await (owner && Git.in(pending.root))?.run(follow(pending)).catch(() => {
      fails = true;
      retries.set(folder, performance.now() + LOCKED_MS);
    });
    // Without a new commit git may be at work still.
    if (isDone || Date.now() - at > DAY_MS) rmSync(folder, { recursive: true, force: true });
  }
  return fails;
}

/**
 * The work tree's index gets the entries of the commit, what hooks have added included; not where the user has
 * staged something else in the meantime. Returns whether git did it.
 */
export async function updateIndex(runner: Git, pending: PendingIndexUpdate): Promise<boolean> {
  for (const end = performance.now() + LOCKED_MS; ; await Bun.sleep(RETRY_MS)) {
    try {
      await runner.run(follow(pending), MAX_MS);
      return true;
    } catch {
      if (performance.now() > end) return false;
    }
  }
}

/** Returns whether HEAD has moved. Throws Failure. */
function* follow({ root, head, tree, known }: PendingIndexUpdate): GitWork<boolean> {
  const now = (yield* headOf(root)) ?? null;
  if (now === null || now === head) return false;
  const raw = yield* git(["diff-tree", "-r", ...RAW, tree, now]);
  const committed = new Map([...rawChanges(raw)].map(([path, { after }]) => [path, after]));
  for (const [path, { after }] of yield* stagedSince(tree)) {
    if (known.get(path) !== after) committed.delete(path);
  }
  yield* putEntries(committed);
  // A hook may change the commit again.
  for (const [path, entry] of committed) known.set(path, entry);
  return true;
}

export function* putEntries(entries: Entries, options: GitOptions = {}): GitWork<void> {
  const { args, input } = indexInfo(entries);
  yield* git(args, { ...options, input });
}
