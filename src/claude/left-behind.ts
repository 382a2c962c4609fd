import { readFileSync, readlinkSync } from "node:fs";
import { isBelow, namesIn } from "../lib/paths";
import { parentOf } from "../lib/process";

/**
 * The processes in the folder `root`, a real path, that commands of the CLI `cli` have left behind: they
 * have its process id in their environment (measured with 2.1.330), and it is no ancestor of them any more.
 * None outside of Linux, where nobody can see another's environment.
 */
export function leftBehind(cli: number, root: string): number[] {
  if (process.platform !== "linux") return [];
  const pids = namesIn("/proc").map(Number);
  return pids.filter((pid) => pid > 0 && isLeft(pid, cli, root));
}

function isLeft(pid: number, cli: number, root: string): boolean {
  try {
    const folder = readlinkSync(`/proc/${pid}/cwd`);
    if (folder !== root && !isBelow(folder, root)) return false;
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
    if (!environment.includes(`CLAUDE_PID=${cli}`)) return false;
    for (let one = pid; one > 1; one = parentOf(one)) if (one === cli) return false;
    return true;
  } catch {
    // It has ended, or is somebody else's.
    return false;
  }
}
