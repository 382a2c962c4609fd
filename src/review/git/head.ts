import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { readRegular } from "../../lib/read-regular";

const COMMIT = /^[0-9a-f]{40,64}$/;

/** The commit that HEAD names, read without git. Undefined without one, or in another format. */
export function headCommit(root: string): string | undefined {
  const git = gitFolder(root);
  if (git === undefined) return undefined;
  const head = read(join(git, "HEAD"));
  const ref = head?.startsWith("ref: ") ? head.slice("ref: ".length) : undefined;
  if (ref === undefined) return commit(head);
  const common = resolve(git, read(join(git, "commondir")) ?? ".");
  return commit(read(join(git, ref)) ?? read(join(common, ref))) ?? packed(common, ref);
}

/** `.git`, or where the file of that name leads, in worktrees and submodules. */
export function gitFolder(root: string): string | undefined {
  const path = join(root, ".git");
  if (isFolder(path)) return path;
  const target = read(path)?.match(/^gitdir: (.+)$/)?.[1];
  return target === undefined ? undefined : resolve(root, target);
}

/** Not where it is a symlink to itself. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function packed(common: string, ref: string): string | undefined {
  const line = read(join(common, "packed-refs"))
    ?.split("\n")
    .find((entry) => entry.endsWith(` ${ref}`));
  return commit(line?.split(" ")[0]);
}

function commit(text: string | undefined): string | undefined {
  return text !== undefined && COMMIT.test(text) ? text : undefined;
}

function read(path: string): string | undefined {
  try {
    return readRegular(path).toString().trim();
  } catch {
    return undefined;
  }
}
