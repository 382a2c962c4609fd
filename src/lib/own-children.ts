/**
 * Programs that the executable has started for its own work and that still run. Whoever ends all that
 * a run of executeCode left behind leaves them, and what they start, alone. They end with the
 * executable: a git that opens a FIFO would wait for ever.
 */
export const ownChildren = new Set<number>();

process.once("exit", () => {
  for (const pid of ownChildren) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended just now.
    }
  }
});
