import { UserError } from "../../lib/errors";
import { unwatchedPaths } from "./differing";
import { headOf } from "./head";
import { type GitWork, outputOf } from "./run";

const MOST_MS = 30_000;
const COMMIT = /^[0-9a-f]{40,64}$/;
const SUBMODULE = 0o160000;

/** Where a branch began. */
export interface BranchPoint {
  /** What it is compared with, as it was given, or found: "origin/main". */
  base: string;
  /** The last commit that HEAD has in common with it. */
  commit: string;
}

/**
 * Without a base: the default branch of the remote that the branch is pushed to, or of `origin`, else
 * `main` or `master`. Throws UserError, which says what to give.
 */
export function* branchPoint(root: string, given?: string): GitWork<BranchPoint> {
  if ((yield* headOf(root)) === null) throw new UserError(`${root} has no commit yet`);
  for (const base of given === undefined ? yield* defaultBases() : [given]) {
    const tip = yield* outputOf("rev-parse", "-q", "--verify", `${base}^{commit}`);
    if (!tip || !COMMIT.test(tip)) continue;
    const commit = yield* outputOf("merge-base", tip, "HEAD");
    if (commit && COMMIT.test(commit)) return { base, commit };
    throw new UserError(`${base} and HEAD have no commit in common: name another base`);
  }
  throw new UserError(
    given === undefined
      ? `${root} has no origin/HEAD, main or master: name the base, as in :Claude review branch develop`
      : `${root} has no branch, tag or commit of the name ${given}`,
  );
}

function* defaultBases(): GitWork<string[]> {
  const upstream = yield* outputOf("rev-parse", "--symbolic-full-name", "@{upstream}");
  const [, remote = "origin"] = /^refs\/remotes\/([^/]+)\//.exec(upstream ?? "") ?? [];
  const bases: string[] = [];
  for (const name of new Set([remote, "origin"])) {
    bases.push((yield* outputOf("rev-parse", "--abbrev-ref", `${name}/HEAD`)) ?? "");
  }
  return [...bases.filter(Boolean), "main", "master"];
}

/** A file that a work tree has otherwise than a commit, or may have. */
export interface Difference {
  /** As git has them, with the type; 0 where there is no file. */
  modes: readonly [before: number, after: number];
  /** The path that it was moved from. */
  from?: string | undefined;
}

/**
 * What the work tree has otherwise than a commit, by path: uncommitted and untracked files, too, ignored
 * ones and other repositories left out. `paths` limits it, unless it is empty. Throws UserError.
 */
export function* differencesFrom(
  root: string,
  commit: string,
  paths: readonly string[],
): GitWork<{ files: Map<string, Difference>; submodules: string[] }> {
  const files = new Map<string, Difference>();
  const submodules: string[] = [];
  // git looks into no submodule, which has a configuration of its own.
  const how = ["--raw", "-z", "--find-renames", "--ignore-submodules=dirty", "--no-ext-diff"];
  const advice = `git diff ${commit} may say why, or fetch what is missing`;
  const failure = new UserError(`git failed in ${root}, or took too long: ${advice}`);
  const words = yield* names(["diff", ...how, commit, "--", ...paths], failure);
  for (let at = 0; at < words.length; at += 2) {
    const [before = "", after = "", , , kind = ""] = words[at]?.slice(1).split(" ") ?? [];
    const modes = [Number.parseInt(before, 8), Number.parseInt(after, 8)] as const;
    const from = kind.startsWith("R") ? words[++at] : undefined;
    const path = words[at + 1] as string;
    if (modes.includes(SUBMODULE)) submodules.push(path);
    else files.set(path, { modes, from });
    if (from !== undefined) files.set(from, { modes: [modes[0], 0] });
  }
  const untracked = ["ls-files", "-z", "--others", "--exclude-standard", "--", ...paths];
  const unwatched = yield* unwatchedPaths(root, paths);
  if (!unwatched) throw failure;
  for (const path of [...(yield* names(untracked, failure)), ...unwatched]) {
    if (!path.endsWith("/") && !files.has(path)) files.set(path, { modes: [0, 0] });
  }
  return { files, submodules };
}

function* names(args: readonly string[], failure: UserError): GitWork<string[]> {
  const { code, stdout } = yield { args: ["--literal-pathspecs", ...args], ms: MOST_MS };
  if (code !== 0) throw failure;
  return stdout.toString().split("\0").filter(Boolean);
}
