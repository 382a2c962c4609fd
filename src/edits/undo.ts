import type { Log } from "../lib/log";
import { type AskNeovim, checkFiles, shownPath } from "./check";
import { Operation } from "./operation";
import { perform } from "./perform";
import { EditProblem } from "./problem";
import { type FileChange, readFile } from "./virtual-files";

/** What was taken back: the operation, which is forgotten, and the files before and after that. */
export interface Undone {
  operation: Operation;
  changes: FileChange[];
}

/**
 * Takes back the last operation whose files all lie in these folders: all of it, or nothing. Throws
 * EditProblem, which names the files that were changed since.
 */
export async function undoLast(
  folders: readonly string[],
  ask: AskNeovim,
  log: Log,
): Promise<Undone> {
  const operation = Operation.all().find((one) => one.isDone && one.isInside(folders));
  if (!operation) throw new EditProblem("There is no rename of Claude's to take back.");
  const root = folders[0] ?? "/";
  const label = `the undo of ${operation.label}`;
  const { files, place } = operation;
  // No language server has seen these texts: buffers take over what was written just now.
  for (const { path } of files) await ask("document_reload", { path });
  const checked = await checkFiles(
    files.map(({ path }) => ({ path })),
    root,
    label,
    ask,
  );
  const other = files.filter((_, index) => operation.state(index) !== "after");
  if (other.length > 0) {
    const names = other.map(({ path }) => shownPath(path, root)).join(", ");
    throw new EditProblem(`These files were changed since: ${names}.`);
  }
  const changes = files.map(({ path }, index): FileChange => {
    const target = files.find(({ from }) => from === path);
    const before = readFile(path);
    const after = operation.before(index);
    return { path, before, after, edits: 0, ...(target && { from: target.path }) };
  });
  const undo = await perform({ label, place }, changes, checked, ask, log);
  undo.forget();
  operation.forget();
  return { operation, changes };
}
