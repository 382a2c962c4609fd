import { chmodSync, lstatSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { attempt } from "../../lib/errors";
import { gitFolder } from "../../lib/git-folder";
import { namesIn, realPath, statOf } from "../../lib/paths";
import { dirname, join } from "../../lib/platform";
import { makePrivateFolder } from "../../lib/private-folder";
import { readRegular } from "../../lib/read-regular";
import { headOf, sizesIn } from "./committed";
import { Git, type GitWork } from "./run";

/** Each inner repository needs runs of git. */
const MAX_REPOSITORIES = 20;
const MAX_ATTEMPTS = 5;
/** git ends long before this, unless the file system hangs. */
const MAX_MS = 120_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** An index of two million files. */
const MAX_INDEX_BYTES = 256 * 1024 * 1024;
/** If git lists more files, we compare only those whose size differs. */
const MAX_TOUCHED = 1_000;

/** The differences in a repository and in those inside it. */
interface Differing extends Omit<DifferingPaths, "repositories" | "index"> {
  /** HEAD of each inner repository (submodule, clone or worktree), by its folder. */
  nested: Record<string, string | null>;
  /** By the repository's folder; "" is the outer one. */
  indexes: Indexes;
  /** The number of inner repositories that we could not read. */
  unknown: number;
}

/** Entries (`MODE BLOB`) that only the outer repository's index has, and neither HEAD nor the work tree, by path. */
export type Staged = Record<string, string>;

/** The entries of an index that differ from HEAD, and when the index was written, in ms since the epoch. */
export type Indexes = Record<string, { at: number; entries: Staged }>;

/**
 * Finds differences from HEAD in `root` and its inner repositories. All paths are relative to `root`. `copyOf` returns
 * the path for a copy of the index of the repository in a folder ("" for `root`). Undefined if git fails in `root`.
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
    const isReadable = isRepository(root, folder);
    // A submodule that is not checked out is empty.
    if (!isReadable && namesIn(path).length === 0) continue;
    const isTooMany = Object.keys(found.nested).length === MAX_REPOSITORIES;
    const inner = isReadable && !isTooMany ? atOneCommit(path, copyOf(folder)) : undefined;
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

/** Tries again if HEAD has moved: files in a new commit are clean, but differ from the earlier HEAD. */
function atOneCommit(root: string, copy: string): DifferingPaths | undefined {
  const git = Git.in(root);
  for (let attempt = 0; git && attempt < MAX_ATTEMPTS; attempt++) {
    const found = git.wait(differingPaths(root, copy));
    if (!found || git.wait(headOf(root)) === found.head) return found;
  }
  return undefined;
}

/** The folder, relative to `root`, of the innermost repository around a path; "" for `root` itself. */
export function repositoryAround(root: string, path: string): string {
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    if (isRepository(root, folder)) return folder;
  }
  return "";
}

/** Whether a folder is a repository. A symlink to one does not count, nor does an invalid `.git` file. */
function isRepository(root: string, folder: string): boolean {
  const path = join(root, folder);
  return path.startsWith(`${root}/`) && realPath(path) === path && gitFolder(path) !== undefined;
}

interface DifferingPaths {
  /** Null before the first commit. Read before the paths. */
  head: string | null;
  paths: string[];
  /** Those of the paths that are not UTF-8, with U+FFFD for invalid bytes. */
  nameless: string[];
  /** Folders of submodules and of untracked repositories. */
  repositories: string[];
  staged: Staged;
  index: Indexes[string];
}

/**
 * Finds the paths whose work tree or index differs from HEAD, or may differ. Includes untracked files, but not ignored
 * files or those of inner repositories. `copy` is the path for a copy of the index, in which git records the sizes and
 * times of all clean files. Undefined if git fails or too many paths differ.
 */
export function* differingPaths(root: string, copy?: string): GitWork<DifferingPaths | undefined> {
  const head = yield* headOf(root);
  // Read before the index itself, so that this time is never too late.
  const at = statOf(join(gitFolder(root) ?? "", "index"))?.mtimeMs ?? 0;
  const untracked = ["--untracked-files=all", "--no-renames", "--ignore-submodules=all"];
  const args = ["status", "--porcelain=v2", "-z", ...untracked];
  const index = copy === undefined ? undefined : copyIndex(root, copy);
  const refreshing = index === undefined ? {} : { index, env: { GIT_OPTIONAL_LOCKS: "1" } };
  const { code, stdout } = yield { args, ms: MAX_MS, mostBytes: MAX_BYTES, ...refreshing };
  // git has written the copy again, with the user's umask.
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

/** Returns the path of the copy. Undefined if the index cannot be copied; git then reports the problem. */
function copyIndex(root: string, copy: string): string | undefined {
  return attempt(() => {
    const index = join(gitFolder(root) ?? root, "index");
    // git reads files that are not older than the index, so the copy must not be newer than the original.
    const seconds = (Math.floor(statSync(index).mtimeMs) - 1) / 1_000;
    makePrivateFolder(dirname(copy));
    writeFileSync(copy, readRegular(index, MAX_INDEX_BYTES), { mode: 0o600 });
    utimesSync(copy, seconds, seconds);
    return copy;
  });
}

/** The files whose sizes or times differ from those in a copy of the index. */
export function* touchedPaths(root: string, index: string): GitWork<string[]> {
  const args = ["diff-files", "-z", "--name-only", "--ignore-submodules=all"];
  const { code, stdout } = yield { args, index, ms: MAX_MS };
  const paths = stdout.toString().split("\0").filter(Boolean);
  if (code !== 0) return [];
  if (paths.length <= MAX_TOUCHED) return paths;
  const sizes = yield* sizesIn(index, []);
  return paths.filter((path) => statOf(join(root, path))?.size !== sizes.get(path)?.size);
}

/** Entries of the index that differ from HEAD. `isAlone` means that the work tree does not have the entry's text. */
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
 * Finds what `git status` leaves out: the folders of gitlinks (submodules, whether in .gitmodules or not), files that
 * the user marked as unchanged (`update-index --assume-unchanged`, `--skip-worktree`), and files that replaced a
 * gitlink's folder. Files that do not exist, as in a sparse checkout, do not count.
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
  // The path of an untracked inner repository ends with a slash.
  return entry.split(" ").slice(count).join(" ");
}

/** The paths in which two commits differ. Undefined if git fails. */
export function* pathsBetween(from: string, to: string): GitWork<string[] | undefined> {
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to];
  const { code, stdout } = yield { args, ms: MAX_MS, mostBytes: MAX_BYTES };
  return code === 0 ? stdout.toString().split("\0").filter(Boolean) : undefined;
}
