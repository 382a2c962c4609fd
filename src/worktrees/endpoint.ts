import { existsSync } from "node:fs";
import * as v from "valibot";
import { Failure, failureCode, message } from "../lib/errors";
import { gitFolder, readGitFile } from "../lib/git-folder";
import { realPath } from "../lib/paths";
import { basename, join } from "../lib/platform";
import { takes } from "../lib/requests";
import { counted } from "../lib/visible";
import { writeBelow } from "../review/decide/apply";
import { differingPaths } from "../review/git/differing";
import { command, outputOf } from "../review/git/run";
import { asLines } from "../review/state/contents";
import { worktreesAround } from "../sessions/worktrees";
import { ask, branchPoint, comingHome, GIT_MS } from "./home";
import { HomeJournal, waits } from "./journal";
import type { Coming, Trees } from "./merge";

const Params = v.object({
  root: v.string(),
  path: v.string(),
  /** Whether to merge although files conflict. They get markers if git can write them. */
  with_conflicts: v.optional(v.boolean(), false),
  /** The real paths of files with unsaved changes in Neovim. */
  unsaved: v.optional(v.array(v.string()), []),
});
type Options = Pick<v.InferOutput<typeof Params>, "with_conflicts" | "unsaved">;

/** In one message. */
const MAX_NAMES = 20;

/** Answers the user's requests about linked worktrees. */
export const worktreeRequests = { home: checked(home), remove: checked(remove) };

function checked<R>(act: (trees: Trees, options: Options) => Promise<R>) {
  return takes(Params, async ({ root, path, ...options }) => {
    try {
      // Any program can claim that a folder is a worktree.
      if (path === root || !worktreesAround(root).includes(path)) {
        throw new Failure(`${path} is not another worktree of ${root}.`);
      }
      return await act({ root, path }, options);
    } catch (error) {
      throw new Failure(message(error));
    }
  });
}

/**
 * Brings a worktree's changes home: checks everything, then records the changes for the review, then writes each file
 * that has not changed since. If it is killed, the next call continues.
 */
async function home({ root, path }: Trees, { with_conflicts, unsaved }: Options) {
  // A bare repository may be a folder's `.git`, and our GIT_WORK_TREE would make that folder a work tree.
  const none = `${root} is not a work tree.`;
  const bare = outputOf("config", "--type=bool", "--default=false", "--get", "core.bare");
  const isMain = gitFolder(root) === join(root, ".git");
  if (isMain && (await ask(root, bare, none)) === "true") throw new Failure(none);
  const top = await ask(root, outputOf("rev-parse", "--show-toplevel"), none);
  if (realPath(top) !== root) throw new Failure(`git has another work tree for ${root}: ${top}`);
  const journal = await HomeJournal.of({ root, path });
  const { coming, conflicts, came, repositories } = await comingHome({ root, path }, journal);
  const name = basename(path);
  if (conflicts.length > 0 && !with_conflicts) {
    const text = `nothing is changed: ${counted(conflicts.length, "file")} of ${name} cannot be merged; :Claude worktree home! merges all others, with conflict markers where git can`;
    return { text, conflicts: conflicts.map((one) => ({ ...one, lines: [] })), changes: [] };
  }
  const open = coming.filter((one) => unsaved.includes(join(root, one.path)));
  if (open.length > 0) {
    const names = listed(open.map((one) => one.path));
    throw new Failure(`nothing is changed: write these files, or undo your edits, first: ${names}`);
  }
  if (coming.length > 0) journal.record(coming);
  const problems: string[] = [];
  const written = coming.filter((one) => {
    const problem = problemWithWriting(root, one);
    if (problem !== undefined) problems.push(problem);
    return problem === undefined;
  });
  if (written.length + came.length > 0) await journal.settle([...written, ...came]);
  const stay = conflicts.filter(({ lines }) => lines.length === 0).length;
  const parts = [
    written.length > 0
      ? `changed ${counted(written.length, "file")} here`
      : "nothing is left to change here",
    ...(written.some(waits) ? ["Claude's changes wait for :Claude review"] : []),
    ...(stay > 0 ? [`${counted(stay, "file")} stay as they are`] : []),
    ...(repositories.length > 0 ? [`left there: ${repositories.join(", ")}`] : []),
    ...(journal.project.sessions.anyWorks() ? ["Claude still works there"] : []),
    ...problems,
  ];
  const changes = written.map(({ path, ours, after }) => ({
    path: join(root, path),
    type: !ours ? "created" : after ? "changed" : "deleted",
  }));
  return { text: `${name} is home: ${parts.join("; ")}`, conflicts, changes };
}

function problemWithWriting(root: string, { path, ours, after }: Coming): string | undefined {
  try {
    const expected = ours?.bytes ? asLines(ours.bytes) : [];
    const mode = after?.mode === ours?.mode ? undefined : after?.mode;
    writeBelow(root, { path, expected, bytes: after?.bytes, mode });
    return undefined;
  } catch (error) {
    if (failureCode(error) === "changed") return message(error);
    return `${path} could not be written: ${message(error)}`;
  }
}

/** Removes a worktree, but not its branch, if nothing would be lost. Throws Failure. */
async function remove(trees: Trees): Promise<object> {
  const { root, path } = trees;
  const refusal = (why: string) => new Failure(`${basename(path)} is not removed: ${why}`);
  const { paths, repositories } = await ask(path, differingPaths(path));
  const dirty = [...paths, ...repositories.filter((one) => existsSync(join(path, one, ".git")))];
  if (dirty.length > 0) throw refusal(`it has changes (${listed(dirty)})`);
  const folder = gitFolder(path);
  if (folder && existsSync(join(folder, "locked"))) throw refusal("git has it locked");
  const count = await commitsOnlyThere(trees);
  const coming = count > 0 ? await comingHome(trees, await HomeJournal.of(trees)) : undefined;
  if (coming && coming.coming.length + coming.conflicts.length > 0) {
    const commits = counted(count, "commit");
    throw refusal(`no other branch has ${commits} of it, and not everything is home`);
  }
  // git also checks for changes.
  const { code } = await ask(root, command(["worktree", "remove", path], { ms: GIT_MS }));
  if (code !== 0) throw refusal("git fails: `git worktree remove` says why");
  return {};
}

/** The number of commits that no other branch has, as `git branch -d` counts them. */
async function commitsOnlyThere(trees: Trees): Promise<number> {
  const { root, path } = trees;
  const { head, here } = await branchPoint(trees);
  const headFile = readGitFile(join(gitFolder(path) ?? path, "HEAD"));
  const branch = headFile?.match(/^ref: refs\/heads\/(.+)$/)?.[1];
  const others = [...(branch ? [`--exclude=${branch}`] : []), "--branches", "--remotes"];
  const count = outputOf("rev-list", "--count", head, "--not", here, ...others);
  return Number(await ask(root, count));
}

function listed(paths: readonly string[]): string {
  const more = paths.length > MAX_NAMES ? ` and ${paths.length - MAX_NAMES} more` : "";
  return paths.slice(0, MAX_NAMES).join(", ") + more;
}
