import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import type { Environment } from "../lib/paths";

export interface RunningCli {
  pid: number;
  cwd: string;
  args: string[];
  env: Environment;
}

/** Those of this user, whose environment we may read; on Linux only. */
export function runningClis(): RunningCli[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => inspect(Number(name)) ?? []);
}

function inspect(pid: number): RunningCli | undefined {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
    if (!isClaude(args)) return undefined;
    const pairs = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    const env = Object.fromEntries(
      pairs.map((pair) => {
        const at = pair.indexOf("=");
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
    );
    return { pid, cwd: readlinkSync(`/proc/${pid}/cwd`), args, env };
  } catch {
    return undefined; // It has ended, or belongs to another user.
  }
}

/** The native program, or the npm package's script run by Node.js. Headless runs have no editor. */
function isClaude(args: readonly string[]): boolean {
  const named = args.slice(0, 2).some((word) => {
    return basename(word) === "claude" || word.includes("@anthropic-ai/claude-code/cli");
  });
  return named && !args.includes("-p") && !args.includes("--print");
}
