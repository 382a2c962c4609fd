import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { realPath } from "../../lib/paths";
import { gitFolder } from "./head";
import { Git } from "./run";
import { differingPaths } from "./status";

/** So many repositories inside of another one are looked into, each by a git of its own. */
const MOST = 20;

/** A repository, and those inside of it. */
export interface Differing {
  /** Paths that differ from their repository's HEAD. */
  paths: string[];
  /** Folders of the inner repositories: submodules, clones, worktrees. */
  nested: string[];
  /** Of so many inner ones nothing is known. */
  unknown: number;
}

/** All paths are relative to `root`. Undefined where git fails there. */
export function differingEverywhere(root: string, git: Git): Differing | undefined {
  const outer = git.wait(differingPaths(hasSubmodules(root)));
  if (!outer) return undefined;
  const found: Differing = { paths: outer.paths, nested: [], unknown: 0 };
  const queue = outer.repositories.filter((folder) => isRepository(root, folder));
  for (const folder of queue) {
    if (found.nested.length === MOST) break;
    const path = join(root, folder);
    const inner = Git.in(path)?.wait(differingPaths(hasSubmodules(path)));
    if (!inner) {
      found.unknown += 1;
      continue;
    }
    found.nested.push(folder);
    found.paths.push(...inner.paths.map((path) => `${folder}/${path}`));
    const deeper = inner.repositories.map((path) => `${folder}/${path}`);
    queue.push(...deeper.filter((path) => isRepository(root, path)));
  }
  return found;
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

function hasSubmodules(root: string): boolean {
  return lstatSync(join(root, ".gitmodules"), { throwIfNoEntry: false })?.isFile() ?? false;
}
