import { accessSync, constants, lstatSync, mkdirSync, rmSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { draftOf, keptMode } from "../lib/atomic-write";
import { message } from "../lib/errors";
import { isDenied, writeLike } from "../lib/rewrite";
import { hash, removeEmpty, type Staged, type StoredFile } from "./operation";
import { EditProblem } from "./problem";
import type { FileChange } from "./virtual-files";

/**
 * Writes the new text of each file beside it, with its mode and owner, under another name: what is
 * left to do is a rename. Throws EditProblem; nothing is left of it then.
 */
export function stage(changes: readonly FileChange[]): Staged {
  const staged: Staged = { files: [], folders: [] };
  try {
    for (const change of changes) {
      refuseReadOnly(change.path);
      staged.folders.push(...makeFolder(dirname(change.path)));
      staged.files.push(stageOne(change));
    }
    return staged;
  } catch (error) {
    unstage(staged);
    if (error instanceof EditProblem) throw error;
    throw new EditProblem(`The files cannot be written: ${message(error)}.`);
  }
}

export function unstage({ files, folders }: Staged): void {
  for (const { draft } of files) if (draft) rmSync(draft, { force: true });
  removeEmpty(folders);
}

function stageOne({ path, before, after, from, mode }: FileChange): StoredFile {
  const moved = from === undefined ? {} : { from };
  const hashes = { before: hash(before), after: hash(after) };
  const file: StoredFile = { path, ...hashes, size: before?.length ?? 0, ...moved };
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (mode !== undefined) file.mode = { before: stats ? keptMode(stats) : mode, after: mode };
  if (!after) return file;
  const model = stats ?? (from === undefined ? undefined : lstatSync(from));
  file.draft = draftOf(path);
  const hasOwner = writeDraft(file.draft, after, model, mode);
  if (stats && (stats.nlink > 1 || !hasOwner)) file.in_place = true;
  return file;
}

/** False: it cannot get the owner of the file. */
function writeDraft(draft: string, bytes: Uint8Array, stats?: Stats, mode?: number): boolean {
  try {
    writeLike(draft, bytes, stats, mode);
    return true;
  } catch (error) {
    rmSync(draft, { force: true });
    if (!stats || !isDenied(error)) throw error;
    writeLike(draft, bytes, undefined, mode);
    return false;
  }
}

/** Root may write what nobody may: the user made it read-only all the same. */
function refuseReadOnly(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return;
  try {
    if ((stats.mode & 0o222) === 0) throw new Error("no write permission");
    accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
  } catch {
    throw new EditProblem(`${path} is read-only.`);
  }
}

/** Returns the folders that were not there, the outermost first. */
function makeFolder(folder: string): string[] {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined) return [];
  const made = [folder];
  while (made[0] !== first) made.unshift(dirname(made[0] as string));
  return made;
}
