import { basename, dirname, join, resolve } from "node:path";
import { gitTop } from "../claude/project";
import { commonFolder, gitFolder, readGitFile } from "../lib/git-folder";
import { namesIn, realPath } from "../lib/paths";

/**
 * The real paths of all work trees of the git repository around a folder, read without git; of none, the
 * folder alone.
 */
export function worktreesAround(folder: string): string[] {
  const real = realPath(folder);
  const top = gitTop(real);
  const git = top && gitFolder(top);
  if (!git) return [real];
  const common = commonFolder(git);
  // A linked one, which only the repository itself makes one of its own.
  if (
    common !== git &&
    (dirname(git) !== join(common, "worktrees") || !names(common, basename(git), top))
  )
    return [real];
  const main = basename(common) === ".git" ? [dirname(common)] : [];
  const linked = namesIn(join(common, "worktrees")).flatMap((name) => {
    const own = join(common, "worktrees", name);
    const dotGit = readGitFile(join(own, "gitdir"));
    const path = dotGit && dirname(resolve(own, dotGit));
    return path && names(common, name, path) ? [path] : [];
  });
  return [...new Set([real, ...[...main, ...linked].map(realPath)])];
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
