import type { GitWork } from "./run";

/** git ends by itself long before; a file system that hangs does not. */
const MOST_MS = 120_000;
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * The paths whose work tree or index differs from HEAD, untracked ones included, ignored ones and
 * submodules left out. Undefined where git fails or there are too many. A name that is not UTF-8 holds
 * a U+FFFD.
 */
export function* differingPaths(): GitWork<string[] | undefined> {
  const untracked = ["--untracked-files=all", "--no-renames", "--ignore-submodules=all"];
  const args = ["status", "--porcelain=v2", "-z", ...untracked];
  const { code, stdout } = yield { args, ms: MOST_MS, mostBytes: MOST_BYTES };
  if (code !== 0) return undefined;
  return stdout
    .toString()
    .split("\0")
    .flatMap((entry) => pathOf(entry) ?? []);
}

/** `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`, `? path` (git-status(1)). */
function pathOf(entry: string): string | undefined {
  const fields: Record<string, number> = { "1": 8, u: 10, "?": 1 };
  const count = fields[entry[0] ?? ""];
  if (count === undefined) return undefined;
  const path = entry.split(" ").slice(count).join(" ");
  // An untracked repository inside of this one ends with a slash.
  return path.endsWith("/") ? undefined : path;
}

/** The paths in which two commits differ. Undefined where git fails. */
export function* pathsBetween(from: string, to: string): GitWork<string[] | undefined> {
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to];
  const { code, stdout } = yield { args, ms: MOST_MS, mostBytes: MOST_BYTES };
  return code === 0 ? stdout.toString().split("\0").filter(Boolean) : undefined;
}
