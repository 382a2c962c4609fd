import { basename, join } from "node:path";
import { listed } from "../edits/check";
import { UserError } from "../lib/errors";
import { gitFolder, readGitFile } from "../lib/git-folder";
import { isThere } from "../lib/paths";
import { counted } from "../lib/visible";
import { differingPaths } from "../review/git/differing";
import { command, Git, outputOf } from "../review/git/run";
import { ask, GIT_MS } from "./git";
import { branchPoint, comingHome, homesOf, type Trees } from "./home";

/** Removes a worktree in which nothing is that is nowhere else; its branch stays. Throws a UserError. */
export async function remove(trees: Trees): Promise<void> {
  const { root, path } = trees;
  const { paths, repositories } = await ask(path, differingPaths(path));
  const inner = repositories.filter((one) => isThere(join(path, one, ".git")));
  const dirty = [...paths, ...inner].map((one) => ({ path: one }));
  if (dirty.length > 0) throw refusal(path, `it has changes (${listed(dirty, path)})`);
  const count = await commitsOnlyThere(trees);
  const coming = count > 0 ? await comingHome(trees) : undefined;
  if (coming && coming.changes.length + coming.conflicts.length > 0) {
    const commits = counted(count, "commit");
    throw refusal(path, `no other branch has ${commits} of it, and not all is home`);
  }
  // git looks for changes and a lock itself, too.
  const work = command(["worktree", "remove", path], { ms: GIT_MS });
  const removed = await Git.asUser(root)?.run(work, GIT_MS);
  if (removed?.code !== 0) throw refusal(path, removed?.stderr.toString().trim() || "git fails");
}

function refusal(path: string, why: string): UserError {
  return new UserError(`${basename(path)} is not removed: ${why}`);
}

/** As `git branch -d` counts; what came home whole is here, too. */
async function commitsOnlyThere(trees: Trees): Promise<number> {
  const { root, path } = trees;
  const { head, here } = await branchPoint(trees);
  const homes = homesOf(path).flatMap(({ stored }) => stored.worktree?.head ?? []);
  const headFile = readGitFile(join(gitFolder(path) ?? path, "HEAD"));
  const branch = headFile?.match(/^ref: refs\/heads\/(.+)$/)?.[1];
  const others = [...(branch ? [`--exclude=${branch}`] : []), "--branches", "--remotes"];
  const count = ["rev-list", "--count", "--ignore-missing", head, "--not", here, ...homes];
  return Number(await ask(root, outputOf(...count, ...others)));
}
