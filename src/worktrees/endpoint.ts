import { basename } from "node:path";
import * as v from "valibot";
import { type AskNeovim, checkFiles } from "../edits/check";
import { perform } from "../edits/perform";
import { changeEvents } from "../edits/virtual-files";
import { message, UserError } from "../lib/errors";
import type { Log } from "../lib/log";
import { realPath } from "../lib/paths";
import { counted } from "../lib/visible";
import { outputOf } from "../review/git/run";
import { worktreesAround } from "../sessions/worktrees";
import { ask as askGit } from "./git";
import { comingHome, type Trees } from "./home";
import { remove } from "./remove";

const Params = v.object({
  root: v.string(),
  path: v.string(),
  /** Files that conflict get markers, or stay as they are, rather than none being changed. */
  with_conflicts: v.optional(v.boolean(), false),
});

/** Answers what a Neovim's user wants of a linked worktree. */
export class WorktreeEndpoint {
  constructor(
    private readonly port: { call: AskNeovim },
    private readonly log: Log,
  ) {}

  /** Throws a UserError. */
  async answer(method: string, params: unknown): Promise<object> {
    const { with_conflicts, ...trees } = v.parse(Params, params);
    try {
      // Anybody can write that a folder is a worktree.
      if (trees.path === trees.root || !worktreesAround(trees.root).includes(trees.path)) {
        throw new UserError(`${trees.path} is no other worktree of ${trees.root}.`);
      }
      if (method === "home") return await this.#home(trees, with_conflicts);
      await remove(trees);
      return {};
    } catch (error) {
      throw new UserError(message(error));
    }
  }

  async #home({ root, path }: Trees, withConflicts: boolean) {
    // A bare repository may be the `.git` of a folder.
    const top = await askGit(
      root,
      outputOf("rev-parse", "--show-toplevel"),
      `${root} is no work tree.`,
    );
    if (realPath(top) !== root)
      throw new UserError(`git has another work tree for ${root}: ${top}`);
    const { head, changes, theirs, conflicts, repositories } = await comingHome({ root, path });
    const name = basename(path);
    if (conflicts.length > 0 && !withConflicts) {
      const text = `nothing is changed: ${counted(conflicts.length, "file")} of ${name} cannot be merged; :Claude worktree home! merges all others, with conflict markers where git can`;
      return { text, conflicts: conflicts.map((one) => ({ ...one, lines: [] })), changes: [] };
    }
    const stay = conflicts.filter(({ lines }) => lines.length === 0).length;
    const worktree = { path, theirs, ...(stay === 0 && { head }) };
    const what = { label: `the home-coming of ${name}`, place: root, worktree };
    if (changes.length > 0) {
      const files = changes.map((change) => ({ path: change.path }));
      const ask: AskNeovim = (method, params, ms) => this.port.call(method, params, ms);
      const checked = await checkFiles(files, root, ask, true);
      await perform({ what, changes, checked, ask }, this.log);
    }
    const parts = [
      changes.length > 0
        ? `changed ${counted(changes.length, "file")} here; :Claude undo home takes it back`
        : "nothing is left to change here",
      ...(stay > 0 ? [`${counted(stay, "file")} stay as they are`] : []),
      ...(repositories.length > 0 ? [`left there: ${repositories.join(", ")}`] : []),
    ];
    const text = `${name} is home: ${parts.join("; ")}`;
    return { text, conflicts, changes: changeEvents(changes) };
  }
}
