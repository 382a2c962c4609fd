import { basename, dirname, join, resolve } from "node:path";
import { commonFolder, gitFolder, gitTop, readGitFile } from "../lib/git-folder";
import { isBelow, namesIn, realPath } from "../lib/paths";

/** A cloned repository may claim any number. */
const MAX_WORKTREES = 200;
/** Each costs one of the system's file watches. */
const MAX_WATCHED = 50;

/** A work tree of a git repository: `claude-code.Worktree` in Lua. */
export interface Worktree {
  /** Real path. */
  path: string;
  /** Undefined for the main one. */
  name?: string;
  branch?: string;
  /** Its own folder in the repository. */
  git: string;
}

/** The work trees of the git repository around a folder, the main one first, read without git. */
export function worktreesOf(folder: string): Worktree[] {
  const top = gitTop(realPath(folder));
  const git = top && gitFolder(top);
  if (!git) return [];
  const common = commonFolder(git);
  // A linked one, which only the repository itself makes one of its own.
  const isLinked = dirname(git) === join(common, "worktrees");
  if (common !== git && !(isLinked && names(common, basename(git), top))) return [];
  const main = basename(common) === ".git" ? [worktree(dirname(common), common)] : [];
  return [
    ...main,
    ...linkedNames(join(common, "worktrees")).flatMap((name) => {
      const own = join(common, "worktrees", name);
      const dotGit = readGitFile(join(own, "gitdir"));
      const path = dotGit && dirname(resolve(own, dotGit));
      return path && names(common, name, path) ? [{ ...worktree(path, own), name }] : [];
    }),
  ];
}

/** The real paths of all work trees around a folder; of none, the folder alone. */
export function worktreesAround(folder: string): string[] {
  return [...new Set([realPath(folder), ...worktreesOf(folder).map(({ path }) => path)])];
}

/** The innermost of some work trees around a folder. */
export function innermost(folder: string, worktrees: readonly Worktree[]): Worktree | undefined {
  const around = worktrees.filter(({ path }) => isBelow(folder, path));
  return around.sort((one, other) => other.path.length - one.path.length)[0];
}

/** The paths that change with the work trees of a repository, of which one is given, and with their branches. */
export function changingIn({ name, git }: Worktree): string[] {
  const linked = name === undefined ? join(git, "worktrees") : dirname(git);
  const main = name === undefined ? [join(git, "HEAD")] : [];
  // git removes `locked` from a new one when it is whole.
  const each = (one: string) => [join(linked, one, "HEAD"), join(linked, one, "locked")];
  return [...main, `${linked}/`, ...linkedNames(linked).slice(0, MAX_WATCHED).flatMap(each)];
}

function linkedNames(folder: string): string[] {
  return namesIn(folder).slice(0, MAX_WORKTREES);
}

function worktree(path: string, git: string): Worktree {
  const branch = readGitFile(join(git, "HEAD"))?.match(/^ref: refs\/heads\/(.+)$/)?.[1];
  return { path: realPath(path), git, ...(branch !== undefined && { branch }) };
}

/** Do the repository's entry and the work tree name each other? Anybody can write one of them. */
function names(common: string, name: string, path: string): boolean {
  const own = join(realPath(dirname(common)), basename(common), "worktrees", name);
  const dotGit = readGitFile(join(own, "gitdir"));
  const back = gitFolder(path);
  return (
    dotGit !== undefined &&
    realPath(resolve(own, dotGit)) === join(realPath(path), ".git") &&
    back !== undefined &&
    realPath(back) === own
  );
}
