import { chmodSync, lstatSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { attempt } from "../../lib/errors";
import { gitFolder } from "../../lib/git-folder";
import { namesIn, realPath, statOf } from "../../lib/paths";
import { makePrivateFolder } from "../../lib/private-folder";
import { readRegular } from "../../lib/read-regular";
import { headOf, sizesIn } from "./committed";
import { Git, type GitWork } from "./run";

/** Looks into this many inner repositories, each by a git of its own. */
const MOST = 20;
const MAX_ATTEMPTS = 5;
/** git ends on its own long before; a file system that hangs does not. */
const MAX_MS = 120_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** An index of two million files. */
const MAX_INDEX_BYTES = 256 * 1024 * 1024;
/** Up to this many files are read; beyond it, only those whose size differs. */
const MAX_TOUCHED = 1_000;

/** A repository, and those inside of it. */
interface Differing extends Omit<DifferingPaths, "repositories" | "index"> {
  /** HEAD of the inner repositories by their folders: submodules, clones, worktrees. */
  nested: Record<string, string | null>;
  /** The indexes of all of them, by their folders; "" is the outer one. */
  indexes: Indexes;
  /** How many inner ones could not be looked into. */
  unknown: number;
}

/** Modes and blobs that only the index has, and neither HEAD nor the work tree, by path; not of inner repositories. */
export type Staged = Record<string, string>;

/** Entries of an index that HEAD lacks, whatever the work tree has; when it was written, in ms since the epoch. */
export type Indexes = Record<string, { at: number; entries: Staged }>;

/**
 * All paths are relative to `root`. `copyOf`: where the index of a repository is copied to, by its folder
 * ("" for `root`). Undefined if git fails there.
 */
export function differingEverywhere(
  root: string,
  git: Git,
  copyOf: (folder: string) => string,
): Differing | undefined {
  const outer = git.wait(differingPaths(root, copyOf("")));
  if (!outer) return undefined;
  const { repositories, index, ...own } = outer;
  const found: Differing = { ...own, nested: {}, indexes: { "": index }, unknown: 0 };
  const queue = [...repositories];
  for (const folder of queue) {
    const path = join(root, folder);
    const isLookedInto = isRepository(root, folder);
    // A submodule that is not checked out is empty.
    if (!isLookedInto && namesIn(path).length === 0) continue;
    const isTooMany = Object.keys(found.nested).length === MOST;
    const inner = isLookedInto && !isTooMany ? ofOneCommit(path, copyOf(folder)) : undefined;
    if (!inner) {
      found.unknown += 1;
      continue;
    }
    found.nested[folder] = inner.head;
    found.indexes[folder] = inner.index;
    const below = (path: string) => `${folder}/${path}`;
    found.paths.push(...inner.paths.map(below));
    found.nameless.push(...inner.nameless.map(below));
    queue.push(...inner.repositories.map(below));
  }
  return found;
}

/** Files that were committed while git looked are clean, but differ from the earlier HEAD. */
function ofOneCommit(root: string, copy: string): DifferingPaths | undefined {
  const git = Git.in(root);
  for (let attempt = 0; git && attempt < MAX_ATTEMPTS; attempt++) {
    const found = git.wait(differingPaths(root, copy));
    if (!found || git.wait(headOf(root)) === found.head) return found;
  }
  return undefined;
}

/** The folder, relative to `root`, of the inner repository that a path is in; "" for none. */
export function repositoryAround(root: string, path: string): string {
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    if (isRepository(root, folder)) return folder;
  }
  return "";
}

/** Not where a symlink leads, and not what a file of the repository only calls one. */
function isRepository(root: string, folder: string): boolean {
  const path = join(root, folder);
  return path.startsWith(`${root}/`) && realPath(path) === path && gitFolder(path) !== undefined;
}

interface DifferingPaths {
  /** Null before the first commit. It was read before the paths were. */
  head: string | null;
  /** Paths that differ from HEAD. */
  paths: string[];
  /** The names among them that are not UTF-8, with U+FFFD for other bytes. */
  nameless: string[];
  /** Folders of submodules, and of repositories that are not tracked. */
  repositories: string[];
  staged: Staged;
  index: Indexes[string];
}

/**
 * The paths whose work tree or index differs from HEAD, or may do so, untracked ones included, ignored
 * ones and what is in other repositories left out. `copy`: where a copy of the index is made, in which git
 * then notes the sizes and times of all clean files. Undefined if git fails or there are too many.
 */
export function* differingPaths(root: string, copy?: string): GitWork<DifferingPaths | undefined> {
  const head = yield* headOf(root);
  // Before its content: what comes in between is later than it says.
  const at = statOf(join(gitFolder(root) ?? "", "index"))?.mtimeMs ?? 0;
  const untracked = ["--untracked-files=all", "--no-renames", "--ignore-submodules=all"];
  const args = ["status", "--porcelain=v2", "-z", ...untracked];
  const index = copy === undefined ? undefined : copyIndex(root, copy);
  const refreshing = index === undefined ? {} : { index, env: { GIT_OPTIONAL_LOCKS: "1" } };
  const { code, stdout } = yield { args, ms: MAX_MS, mostBytes: MAX_BYTES, ...refreshing };
  // git has written it again, by the umask of the user.
  if (index !== undefined) chmodSync(index, 0o600);
  const unwatched = yield* unwatchedPaths(root);
  if (code !== 0 || head === undefined || !unwatched) return undefined;
  const [gitlinks, files] = unwatched;
  const entries = stdout.toString().split("\0");
  const raw = stdout.toString("latin1").split("\0");
  const isNameless = (entry: string, i: number) =>
    entry.includes("\uFFFD") && Buffer.from(entry).toString("latin1") !== raw[i];
  const found = entries.flatMap((entry) => pathOf(entry) ?? []);
  const inIndex = indexIn(entries);
  const untrackedRepositories = found.filter((path) => path.endsWith("/"));
  return {
    head,
    paths: [...found.filter((path) => !path.endsWith("/")), ...files],
    repositories: [...untrackedRepositories.map((path) => path.slice(0, -1)), ...gitlinks],
    nameless: entries.filter(isNameless).flatMap((entry) => pathOf(entry) ?? []),
    staged: Object.fromEntries(inIndex.filter(([, , isAlone]) => isAlone)),
    index: { at, entries: Object.fromEntries(inIndex) },
  };
}

/** Undefined if the index cannot be copied: git then says what is wrong with it. */
function copyIndex(root: string, copy: string): string | undefined {
  return attempt(() => {
    const index = join(gitFolder(root) ?? root, "index");
    // git looks into files that are not older than their index: the copy must not be newer.
    const seconds = (Math.floor(statSync(index).mtimeMs) - 1) / 1_000;
    makePrivateFolder(dirname(copy));
    writeFileSync(copy, readRegular(index, MAX_INDEX_BYTES), { mode: 0o600 });
    utimesSync(copy, seconds, seconds);
    return copy;
  });
}

/** The files whose sizes or times are not those that git has noted in a copy of the index. */
export function* touchedPaths(root: string, index: string): GitWork<string[]> {
  const args = ["diff-files", "-z", "--name-only", "--ignore-submodules=all"];
  const { code, stdout } = yield { args, index, ms: MAX_MS };
  const paths = stdout.toString().split("\0").filter(Boolean);
  if (code !== 0) return [];
  if (paths.length <= MAX_TOUCHED) return paths;
  const sizes = yield* sizesIn(index, []);
  return paths.filter((path) => statOf(join(root, path))?.size !== sizes.get(path)?.size);
}

/** `isAlone`: the work tree lacks it. A file that the index lacks, and that is still there, is untracked as well. */
function indexIn(entries: readonly string[]): [path: string, entry: string, isAlone: boolean][] {
  const untracked = new Set(
    entries.flatMap((one) => (one.startsWith("? ") ? pathOf(one) : []) ?? []),
  );
  return entries.flatMap((entry) => {
    const [, tree, mode, blob] = /^1 [^.](.) \S+ \S+ (\S+) \S+ \S+ (\S+) /.exec(entry) ?? [];
    const path = pathOf(entry) ?? "";
    const isAlone = tree !== "." || untracked.has(path);
    return tree ? [[path, `${mode} ${blob}`, isAlone]] : [];
  });
}

/**
 * `git status` leaves these out: folders that the index calls repositories (gitlinks: submodules, with a line in
 * .gitmodules or without), and files. Those have a bit by which git takes them for unchanged (`update-index
 * --assume-unchanged`, `--skip-worktree`), or stand in a gitlink's place. A sparse checkout lacks its own.
 */
function* unwatchedPaths(root: string): GitWork<[gitlinks: string[], files: string[]] | undefined> {
  const args = ["ls-files", "-v", "-s", "-z"];
  const { code, stdout } = yield { args, ms: MAX_MS, mostBytes: MAX_INDEX_BYTES };
  if (code !== 0) return undefined;
  const found = stdout.toString().matchAll(/(?<![^\0])(?:. (160000)|[a-zS] \d+) [^\t]+\t([^\0]+)/g);
  const gitlinks = new Set<string>();
  const files: string[] = [];
  for (const [, isLink, path = ""] of found) {
    const stats = attempt(() => lstatSync(join(root, path)));
    if (isLink && stats?.isDirectory()) gitlinks.add(path);
    else if (stats) files.push(path);
  }
  return [[...gitlinks], files];
}

/** `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`, `? path` (git-status(1)). */
function pathOf(entry: string): string | undefined {
  const fields: Record<string, number> = { "1": 8, u: 10, "?": 1 };
  const count = fields[entry[0] ?? ""];
  if (count === undefined) return undefined;
  // An untracked repository inside of this one ends with a slash.
  return entry.split(" ").slice(count).join(" ");
}

/** The paths in which two commits differ. Undefined if git fails. */
export function* pathsBetween(from: string, to: string): GitWork<string[] | undefined> {
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to];
  const { code, stdout } = yield { args, ms: MAX_MS, mostBytes: MAX_BYTES };
  return code === 0 ? stdout.toString().split("\0").filter(Boolean) : undefined;
}
