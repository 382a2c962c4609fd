import { existsSync } from "node:fs";
import { statOf } from "./paths";
import { dirname, join, resolve } from "./platform";
import { readText } from "./read-regular";

/** The top of the git repository around a folder. */
export function gitTop(folder: string): string | undefined {
  for (let top = folder; ; top = dirname(top)) {
    if (existsSync(join(top, ".git"))) return top;
    if (dirname(top) === top) return undefined;
  }
}

const COMMIT = /^[0-9a-f]{40,64}$/;

/** Reads the commit of HEAD without git. Undefined before the first commit, and if only git can find it. */
export function headCommit(root: string): string | undefined {
  const git = gitFolder(root);
  if (git === undefined) return undefined;
  const head = readGitFile(join(git, "HEAD"));
  const ref = head?.startsWith("ref: ") ? head.slice("ref: ".length) : undefined;
  if (ref === undefined) return commit(head);
  const common = commonFolder(git);
  const loose = readGitFile(join(git, ref)) ?? readGitFile(join(common, ref));
  return loose === undefined ? packed(common, ref) : commit(loose);
}

/** The git folder that all work trees of a repository share. */
export function commonFolder(git: string): string {
  return resolve(git, readGitFile(join(git, "commondir")) ?? ".");
}

/** The git folder of a work tree: `.git`, or the folder that the file `.git` of a worktree or submodule names. */
export function gitFolder(root: string): string | undefined {
  const path = join(root, ".git");
  if (statOf(path)?.isDirectory()) return path;
  const target = readGitFile(path)?.match(/^gitdir: (.+)$/)?.[1];
  return target === undefined ? undefined : resolve(root, target);
}

function packed(common: string, ref: string): string | undefined {
  const line = readGitFile(join(common, "packed-refs"))
    ?.split("\n")
    .find((entry) => entry.endsWith(` ${ref}`));
  return commit(line?.split(" ")[0]);
}

function commit(text: string | undefined): string | undefined {
  return text !== undefined && COMMIT.test(text) ? text : undefined;
}

/** The text of a short file in a git folder, without white space around it. */
export function readGitFile(path: string): string | undefined {
  return readText(path)?.trim();
}
