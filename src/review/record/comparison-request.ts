import { spawn } from "node:child_process";
import { existsSync, rmSync, statSync } from "node:fs";
import { tryLock } from "../../lib/lock";
import { join } from "../../lib/platform";
import { touch } from "../../lib/private-folder";
import { reviewFolder } from "../journal/folder";
import { compareWorkTree, type Found } from "./compare";
import { RecordedProject } from "./recorded-project";

const [REQUEST, LOCK] = ["compare.request", "compare.lock"];
/** A process that compares may have been killed. */
const MAX_MS = 60_000;
const MAX_ROUNDS = 5;

/**
 * Compares a project's work tree in a detached process, because a comparison reads the whole tree. If a process is
 * comparing already, that process does it. `onError` gets the system's message.
 */
export function startComparison(
  { root, folder }: Pick<RecordedProject, "root" | "folder">,
  onError: (message: string) => void,
): void {
  requestComparison(folder);
  const child = spawn(process.execPath, ["hook", "compare", root], {
    cwd: "/",
    detached: true,
    stdio: "ignore",
    // With this variable, `leftBehind` would mistake it for a process that one of Claude's commands left running.
    env: { ...process.env, CLAUDE_PID: undefined },
  });
  child.on("error", (error) => onError(error.message));
  child.unref();
}

/** Whether a comparison was requested, or runs. */
export function isComparing(folder: string): boolean {
  return [REQUEST, LOCK].some((name) => {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false });
    return stats !== undefined && Date.now() - stats.mtimeMs < MAX_MS;
  });
}

/** Asks for a comparison by `compareInTurns`, in this process or in one that is comparing already. */
export function requestComparison(folder: string): void {
  touch(join(folder, REQUEST));
}

/**
 * Compares the work tree of `root` as often as requested. Returns undefined if there is no request or another process
 * compares; otherwise call it again, since one call makes at most MAX_ROUNDS comparisons. Throws the system's error.
 */
export function compareInTurns(root: string): Found[] | undefined {
  const folder = reviewFolder(root);
  const request = join(folder, REQUEST);
  let found: Found[] | undefined;
  // Checks again after the lock is released: a process that asked in between could not take the lock.
  for (let round = 0; round < MAX_ROUNDS && existsSync(request); round++) {
    using lock = tryLock(join(folder, LOCK));
    if (!lock) break;
    rmSync(request, { force: true });
    // The folder may have become a repository since the previous round.
    found = [...(found ?? []), ...compareWorkTree(new RecordedProject(root))];
  }
  return found;
}
