import { isBelow } from "../lib/paths";
import { isAlive } from "../lib/process";
import { type Lock, readLocks } from "./lock-file";

/**
 * Another running editor that publishes an overlapping workspace: a Claude CLI that is started
 * outside of both, in such a folder, connects to neither.
 */
export interface Rival {
  pid: number;
  /** Its ideName. */
  name: string;
  /** The overlapping folder. */
  folder: string;
}

/** The rivals of the editor `pid` with these workspace folders. */
export function findRivals(
  pid: number | undefined,
  folders: readonly string[],
  locks: readonly Lock[] = readLocks(),
): Rival[] {
  return locks.flatMap((lock) => {
    if (lock.pid === undefined || lock.pid === pid || !isAlive(lock.pid)) return [];
    const folder = lock.folders.find((theirs) =>
      folders.some((ours) => isBelow(theirs, ours) || isBelow(ours, theirs)),
    );
    return folder === undefined ? [] : [{ pid: lock.pid, name: lock.ideName ?? "", folder }];
  });
}
