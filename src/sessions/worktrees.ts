import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { gitTop } from "../claude/project";
import { namesIn, realPath } from "../lib/paths";
import { readRegular } from "../lib/read-regular";

/**
 * The real paths of all work trees of the git repository around a folder, read without git; of none, the
 * folder alone.
 */
export function worktreesAround(folder: string): string[] {
  const real = realPath(folder);
  const top = gitTop(real);
  const common = top && commonFolder(top);
  if (!common) return [real];
  const main = basename(common) === ".git" ? [dirname(common)] : [];
  const linked = namesIn(join(common, "worktrees")).flatMap((name) => {
    const dotGit = line(join(common, "worktrees", name, "gitdir"));
    return dotGit ? [dirname(dotGit)] : [];
  });
  return [...new Set([real, ...[...main, ...linked].map(realPath)])];
}

/** In a linked work tree `.git` is a file that names a folder below the common one. */
function commonFolder(top: string): string | undefined {
  const dotGit = join(top, ".git");
  if (statSync(dotGit, { throwIfNoEntry: false })?.isDirectory()) return dotGit;
  const own = line(dotGit)?.match(/^gitdir: (.+)$/)?.[1];
  const common = own && line(join(resolve(top, own), "commondir"));
  return common ? resolve(top, own, common) : undefined;
}

function line(path: string): string | undefined {
  try {
    return readRegular(path).toString().split("\n")[0];
  } catch {
    return undefined;
  }
}
