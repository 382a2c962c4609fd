import { readFileSync, readlinkSync } from "node:fs";
import { isBelow, namesIn } from "../lib/paths";
import { IS_LINUX } from "../lib/platform";
import { statOf } from "../lib/process";

/**
 * The processes that commands of the CLI with the process id `cli` left behind in the folder `root`, a real path. The
 * CLI's id is in their environment (measured with 2.1.330), but they are no longer its descendants. They work in the
 * folder, or their command line names it (`git -C`); other processes, such as gpg-agent, may run for days. The list is
 * empty except on Linux: elsewhere a process cannot read another's environment.
 */
export function leftBehind(cli: number, root: string): number[] {
  if (!IS_LINUX) return [];
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
    // The process has ended, or belongs to another user.
    return false;
  }
}
