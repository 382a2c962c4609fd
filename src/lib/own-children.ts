/**
 * What the executable has started and what still runs: process ids, negative ones of whole groups. It ends
 * with the executable: a git that opens a FIFO would wait for ever.
 */
export const ownChildren = new Set<number>();

process.once("exit", () => {
  for (const pid of ownChildren) killNow(pid);
});

/** Ends a process, or a group of them (`-pid`), if it still runs. */
export function killNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
