import * as v from "valibot";
import { message, UserError } from "../lib/errors";
import type { Log } from "../lib/log";
import { isBelow, shownPath } from "../lib/paths";
import { counted } from "../lib/visible";
import { type AskNeovim, checkFiles } from "./check";
import { Operation } from "./operation";
import { perform } from "./perform";
import { EditProblem } from "./problem";
import { recoverOperations } from "./recover";
import { changeEvents, type FileChange, readFile } from "./virtual-files";

/** What was taken back: the operation, which is forgotten, and the files before and after that. */
export interface Undone {
  operation: Operation;
  changes: FileChange[];
}

/** The Neovim whose user takes renames back. */
interface UndoPort {
  /** The workspace folders, real paths. */
  readonly state: { readonly folders: readonly string[] };
  call: AskNeovim;
}

/** Takes worktrees back that came home, for one Neovim, and completes at its start what was interrupted. */
export class UndoEndpoint {
  constructor(
    private readonly port: UndoPort,
    private readonly log: Log,
  ) {}

  /** Neovim is attached. */
  start(): void {
    for (const problem of recoverOperations(this.log)) {
      this.port
        .call("edits_recovered", { problem })
        .catch((error) => this.log.warn(`Reporting an undo failed: ${message(error)}`));
    }
  }

  /** `:Claude undo rename` and `undo home`: the request `edits/undo`. Throws a UserError. */
  async answer(_method: string, params: unknown): Promise<{ done: string; changes: object[] }> {
    const { home } = v.parse(UndoParams, params);
    const ask: AskNeovim = (method, params, ms) => this.port.call(method, params, ms);
    try {
      const undone = await undoLast(home, this.port.state.folders, ask, this.log);
      const done = `took back ${undone.operation.stored.label}: ${counted(undone.changes.length, "file")}`;
      return { done, changes: changeEvents(undone.changes) };
    } catch (error) {
      throw new UserError(message(error));
    }
  }
}

const UndoParams = v.object({ home: v.boolean() });

/**
 * Takes back the last rename whose files all lie in these folders, or the last worktree that came home, if
 * one of them lies in it, or where it came to: all of it, or nothing. Throws EditProblem, which names the files
 * that were changed since.
 */
async function undoLast(
  home: boolean,
  folders: readonly string[],
  ask: AskNeovim,
  log: Log,
): Promise<Undone> {
  const operation = Operation.all().find((one) => {
    const { worktree, place } = one.stored;
    const trees = [place, ...(worktree ? [worktree.path] : [])];
    const isAround = folders.some((folder) => trees.some((tree) => isBelow(folder, tree)));
    const isHere = home ? isAround : one.isInside(folders);
    return one.isDone && isHere && home === (worktree !== undefined);
  });
  if (!operation) {
    const what = home ? "worktree that came home" : "rename of Claude's";
    throw new EditProblem(`There is no ${what} to take back.`);
  }
  const root = folders[0] ?? "/";
  const label = `the undo of ${operation.stored.label}`;
  const { files, place } = operation.stored;
  // No language server has seen these texts: buffers take over what was written just now.
  for (const { path } of files) await ask("document_reload", { path });
  const checked = await checkFiles(
    files.map(({ path }) => ({ path })),
    root,
    ask,
    true,
  );
  const other = files.filter((_, index) => operation.state(index) !== "after");
  if (other.length > 0) {
    const names = other.map(({ path }) => shownPath(path, root)).join(", ");
    throw new EditProblem(`These files were changed since: ${names}.`);
  }
  const changes = files.map(({ path, mode }, index): FileChange => {
    const target = files.find(({ from }) => from === path);
    const before = readFile(path);
    const after = operation.before(index);
    const moved = target && { from: target.path };
    return { path, before, after, edits: 0, ...moved, ...(mode && { mode: mode.before }) };
  });
  const what = { label, place, undoes: operation.id };
  await perform({ what, changes, checked, ask }, log);
  return { operation, changes };
}
