import { readFileSync, readlinkSync } from "node:fs";
import { isBelow, namesIn } from "../lib/paths";
import { statOf } from "../lib/process";

/**
 * The processes that work in the folder `root`, a real path, or whose command line names it (`git -C`),
 * and that commands of the CLI `cli` have left behind: they have its process id in their environment
 * (measured with 2.1.330), and are no longer its descendants. Empty outside Linux, where processes cannot read each
 * other's environment. Others, such as gpg-agent, run for days.
 */
export function leftBehind(cli: number, root: string): number[] {
  if (process.platform !== "linux") return [];
  const pids = namesIn("/proc").map(Number);
  return pids.filter((pid) => pid > 0 && isLeft(pid, cli, root));
}

function isLeft(pid: number, cli: number, root: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
    if (!environment.includes(`CLAUDE_PID=${cli}`)) return false;
    const isHere = isBelow(readlinkSync(`/proc/${pid}/cwd`), root);
    if (!isHere && !readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(root)) return false;
    for (let one = pid; one > 1; one = statOf(one).parent) if (one === cli) return false;
    return true;
  } catch {
    // It has ended, or is somebody else's.
    return false;
  }
}
