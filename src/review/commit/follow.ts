import { lstatSync, rmSync } from "node:fs";
import { writePrivateFile } from "../../lib/atomic-write";
import { readPrivateJson } from "../../lib/json";
import { namesIn } from "../../lib/paths";
import { join } from "../../lib/platform";
import { isGone, ownProcess } from "../../lib/process";
import { type Entries, headOf, indexInfo, rawChanges } from "../git/committed";
import { Git, type GitOptions, type GitWork } from "../git/run";
import { DAY_MS } from "../journal/prune";
import { git, MAX_MS, RAW, stagedSince } from "./plan";

/** Another git may lock the index for a moment. */
const LOCKED_MS = 5_000;
const RETRY_MS = 50;
/** The prefix of a commit's folder in the review's folder. */
export const FOLDER = "commit-";
const NOTE = "follow.json";

/** After a commit, the repository's index must get the commit's entries. */
interface PendingIndexUpdate {
  root: string;
  /** HEAD before the commit; null if there was no commit. */
  head: string | null;
  tree: string;
  /** Entries of the index that differ from the tree because of Claude or us. The update may replace them. */
  known: Entries;
}

type Stored = PendingIndexUpdate & { owner?: ReturnType<typeof ownProcess> };

/** When to run git again after a failure, by folder. In the time of performance.now(). */
const retries = new Map<string, number>();

/** Stores the update for the next start: if this process is killed, git continues. Throws the system's error. */
export function savePending(folder: string, { known, ...pending }: PendingIndexUpdate): void {
  const text = JSON.stringify({ ...pending, known: [...known], owner: ownProcess() });
  writePrivateFile(join(folder, NOTE), text);
}

/** Finishes the updates of killed processes. Returns whether git failed, so that a later call should try again. */
export async function finishPending(reviewFolder: string): Promise<boolean> {
  let fails = false;
  for (const name of namesIn(reviewFolder).filter((one) => one.startsWith(FOLDER))) {
    const folder = join(reviewFolder, name);
    const found = readPrivateJson(join(folder, NOTE));
    const { owner, ...pending } = (found ?? {}) as unknown as Stored;
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
    // Without a new commit, git may still be working.
    if (isDone || Date.now() - at > DAY_MS) rmSync(folder, { recursive: true, force: true });
  }
  return fails;
}

/**
 * Puts the commit's entries into the repository's index, including those that hooks added. Spares entries that the user
 * has staged since. Returns whether git succeeded.
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
  // A hook may change the commit again, and then we update the index again.
  for (const [path, entry] of committed) known.set(path, entry);
  return true;
}

export function* putEntries(entries: Entries, options: GitOptions = {}): GitWork<void> {
  const { args, input } = indexInfo(entries);
  yield* git(args, { ...options, input });
}
