import { basename, dirname, join } from "node:path";
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
  const main = basename(common) === ".git" ? [dirname(common)] : [];
  const linked = namesIn(join(common, "worktrees")).flatMap((name) => {
    const dotGit = readGitFile(join(common, "worktrees", name, "gitdir"));
    return dotGit ? [dirname(dotGit)] : [];
  });
  return [...new Set([real, ...[...main, ...linked].map(realPath)])];
}
