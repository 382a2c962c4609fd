import { readdirSync, readFileSync } from "node:fs";

/** Set for everything a run starts, so that it is found even after it became a daemon. */
export const RUN_VARIABLE = "CLAUDE_CODE_NVIM_RUN";

/**
 * Ends a run with everything it started: the process group of its leader at once, and on Linux also
 * processes that left the group, found by the variable that they inherited.
 */
export function killRun(leader: number, run: string): void {
  signal(-leader);
  signal(leader);
  for (const pid of descendants(run)) signal(pid);
}

function signal(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

function descendants(run: string): number[] {
  const wanted = `${RUN_VARIABLE}=${run}`;
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return [];
  }
  return names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && environment(pid).includes(wanted));
}

function environment(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}
