import { lstatSync } from "node:fs";
import { EditorBusyError, EditorRefusal } from "../editor/port";
import { message } from "../lib/errors";
import type { Log } from "../lib/log";
import { type AskNeovim, type CheckedFile, hasText } from "./check";
import { hash, type Labelled, Operation, type StoredFile } from "./operation";
import { EditProblem } from "./problem";
import { isComplete, recoverOperations } from "./recover";
import { stage, unstage } from "./stage";
import { type FileChange, readFile } from "./virtual-files";

/** Renames of files, and the changes of buffers, which plugins of the user's follow. */
const COMMIT_MS = 10_000;
/** How long a Neovim that has begun may take on top. */
const FINISH_MS = 10_000;
const STEP_MS = 100;

let last: Promise<unknown> = Promise.resolve();

/** What is to change, and what Neovim has said of these files. */
export interface Edit {
  what: Labelled;
  changes: readonly FileChange[];
  checked: readonly CheckedFile[];
  ask: AskNeovim;
}

/**
 * Changes files, all or none of them. The new texts are written beside the files, the operation is
 * recorded, and then Neovim, in one go in which the user cannot type, looks whether everything still
 * is as it was, renames the files into place, and lets the buffers follow, each in one undo step.
 * That runs no autocommands of a write: formatting on save would make something else of it.
 *
 * Throws EditProblem, EditorBusyError and EditorRefusal; no file is changed then.
 */
export function perform(edit: Edit, log: Log): Promise<Operation> {
  // One at a time: recovery must not take back what runs in this process.
  const done = last.then(() => {
    for (const text of recoverOperations(log)) log.warn(text);
    return performOne(edit);
  });
  last = done.catch(() => {});
  return done;
}

async function performOne(edit: Edit): Promise<Operation> {
  const { what, changes } = edit;
  refuseDifferent(edit);
  const staged = stage(changes);
  let operation: Operation;
  try {
    operation = Operation.begin(what, changes, staged);
  } catch (error) {
    unstage(staged);
    throw new EditProblem(`The change cannot be recorded: ${message(error)}.`);
  }
  await commit(operation, edit);
  operation.markDone();
  return operation;
}

/**
 * What the server saw is the buffer's text, else the disk's: they are the same, or one is old. Where a
 * symlink has led elsewhere since the files were checked, nobody has checked that file.
 */
function refuseDifferent({ changes, checked }: Edit): void {
  for (const { path, before } of changes) {
    const file = checked.find((one) => one.path === path);
    if (!file) throw changed(path);
    if (!hasText(file, before)) {
      throw new EditProblem(`${path} differs on disk from its buffer in Neovim.`);
    }
  }
}

async function commit(operation: Operation, { changes, checked, ask }: Edit): Promise<void> {
  try {
    const files = operation.stored.files.map((file) => commitFile(file, checked));
    for (const [index, { path, before }] of changes.entries()) {
      // Read after its time was taken.
      if (hash(readFile(path)) !== hash(before)) throw changed(files[index]?.path ?? path);
    }
    await ask("edits_commit", { ready: operation.readyPath, edits: files }, COMMIT_MS);
  } catch (error) {
    if (operation.claim()) {
      operation.forget();
      throw error;
    }
    if (error instanceof EditorBusyError && (await finishes(operation))) return;
    if (isComplete(operation)) return;
    await takeBack(operation, ask);
    if (error instanceof EditorRefusal) throw error;
    throw new EditProblem(`${message(error)}.`);
  }
}

function changed(path: string): EditProblem {
  return new EditProblem(`${path} was changed in the meantime. Try again.`);
}

/** As Lua takes it (editor/edits/commit.lua). */
function commitFile(file: StoredFile, checked: readonly CheckedFile[]): { path: string } {
  const { path, draft, in_place, from } = file;
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const second = 1_000_000_000n;
  const tick = checked.find((one) => one.path === path)?.tick;
  return {
    path,
    ...(draft !== undefined && { draft }),
    ...(in_place && { in_place }),
    ...(from !== undefined && { from }),
    ...(tick !== undefined && { tick }),
    ...(stats && {
      stamp: [Number(stats.size), Number(stats.mtimeNs / second), Number(stats.mtimeNs % second)],
    }),
  } as { path: string };
}

async function finishes(operation: Operation): Promise<boolean> {
  for (const deadline = Date.now() + FINISH_MS; Date.now() < deadline; ) {
    if (isComplete(operation)) return true;
    await Bun.sleep(STEP_MS);
  }
  return false;
}

async function takeBack(operation: Operation, ask: AskNeovim): Promise<void> {
  const paths = operation.stored.files.map(({ path }) => path);
  operation.takeBack();
  for (const path of paths) await ask("document_reload", { path }).catch(() => {});
}
