import { commonFolder, gitFolder, gitTop, readGitFile } from "../lib/git-folder";
import { isBelow, namesIn, realPath } from "../lib/paths";
import { basename, dirname, join, resolve } from "../lib/platform";

/** A hostile repository may claim any number. */
const MAX_WORKTREES = 200;
/** Each needs file watches of the system. */
const MAX_WATCHED = 50;

/** A work tree of a git repository: `claude-code.Worktree` in Lua. */
export interface Worktree {
  /** Real path. */
  path: string;
  /** Undefined for the main work tree. */
  name?: string;
  branch?: string;
  /** The work tree's folder inside the repository. */
  git: string;
}

/** The work trees of the git repository around a folder, the main one first. Does not run git. */
export function worktreesOf(folder: string): Worktree[] {
  const top = gitTop(realPath(folder));
  const git = top && gitFolder(top);
  if (!git) return [];
  const common = commonFolder(git);
  // Accept a linked work tree only if the repository also names it.
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

/** The real paths of a folder and of all work trees of its repository. */
export function worktreesAround(folder: string): string[] {
  return [...new Set([realPath(folder), ...worktreesOf(folder).map(({ path }) => path)])];
}

/** The innermost of some work trees around a folder. */
export function innermost(folder: string, worktrees: readonly Worktree[]): Worktree | undefined {
  const around = worktrees.filter(({ path }) => isBelow(folder, path));
  return around.sort((one, other) => other.path.length - one.path.length)[0];
}

/** The paths that change with the work trees of a repository and their branches. Takes any of the work trees. */
export function changingIn({ name, git }: Worktree): string[] {
  const linked = name === undefined ? join(git, "worktrees") : dirname(git);
  const main = name === undefined ? [join(git, "HEAD")] : [];
  // git removes `locked` when a new work tree is complete.
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

/** Whether the repository's entry and the work tree name each other. A single one of them may be forged. */
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
