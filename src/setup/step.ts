import { existsSync, lstatSync, mkdirSync, unlinkSync } from "node:fs";
import { removeOldDrafts, writeText } from "../lib/atomic-write";
import { Failure, message } from "../lib/errors";
import { isBelow, realPath, removeEmptyFolder } from "../lib/paths";
import { dirname } from "../lib/platform";
import { readRegular } from "../lib/read-regular";
import { type ProjectRecord, writeRecord } from "./record";

/** Longer than any settings file or CLAUDE.md written by hand. Each edit parses the whole text. */
const MAX_BYTES = 1024 * 1024;

/** One step of setting a project up, or of undoing that. */
export interface Step {
  /** Says which file changes and how; the user confirms it. */
  what: string;
  /** Writes the record before the file, in case we are killed in between. Throws Failure or the system's error. */
  run(record: ProjectRecord): void | Promise<void>;
}

export interface Plan {
  root: string;
  /** Whether the project is set up afterwards. */
  active: boolean;
  steps: Step[];
  notes: string[];
  /** Makes the plan again, from the current files. */
  again(): Plan;
}

/** Undefined if the file does not exist. Throws Failure if it cannot be read, is too big, or is not a regular file. */
export function readText(path: string): string | undefined {
  try {
    const bytes = readRegular(path, MAX_BYTES);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Failure(`${path} cannot be read: ${message(error)}`);
  }
}

/** Writes a file of the project. Its mode and a symlink to it stay. Throws Failure if it leads out of the project. */
export function changeFile(root: string, path: string, after: string, what: string): Step {
  const before = readText(path);
  const target = targetWithin(root, path);
  return {
    what: `${before === undefined ? "create" : "change"} ${withTarget(root, path)}: ${what}`,
    run(record) {
      if (readText(path) !== before || targetWithin(root, path) !== target) {
        throw changedMeanwhile(path);
      }
      makeFolder(dirname(path), record);
      const last = record.files[path];
      // If another program has changed the file since we did, undoing must not restore the text from before our change.
      const isOthers = last && last.after !== before && last.before !== (before ?? null);
      if (isOthers) delete record.files[path];
      else record.files[path] = { before: last ? last.before : (before ?? null), after };
      writeRecord(record);
      writeText(path, after);
    },
  };
}

/**
 * Undoes our change of a file. If the file has not changed since, it gets its old text back, byte for byte; otherwise
 * `without` removes our part. Throws Failure if the file leads out of the project.
 */
export function restoreFile(
  root: string,
  path: string,
  record: ProjectRecord | undefined,
  without: (text: string) => string,
  what: string,
): Step | undefined {
  const now = readText(path);
  if (now === undefined) return undefined;
  const known = record?.files[path];
  const before = known?.after === now ? known.before : without(now);
  if (before === now) return undefined;
  const shown = withTarget(root, path);
  return {
    what: before === null ? `delete ${shown}: nothing else is in it` : `change ${shown}: ${what}`,
    run(current) {
      if (readText(path) !== now || withTarget(root, path) !== shown) throw changedMeanwhile(path);
      if (before === null) unlinkSync(path);
      else writeText(path, before);
      delete current.files[path];
    },
  };
}

function changedMeanwhile(path: string): Failure {
  return new Failure(`${path} was changed in the meantime; try again`);
}

/** Makes a folder and its missing parents, and records them. */
export function makeFolder(path: string, record: ProjectRecord): void {
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  makeFolder(dirname(path), record);
  record.folders.push(path);
  writeRecord(record);
  mkdirSync(path);
}

/** Removes the folders that we made, unless something else is in them. */
export function removeFolders(record: ProjectRecord): void {
  for (const folder of record.folders.reverse()) {
    // We made the folder, so every draft in it is ours. A write that was killed may have left one just now.
    removeOldDrafts(folder, Number.POSITIVE_INFINITY);
    removeEmptyFolder(folder);
  }
  record.folders = [];
}

/**
 * The real path of a file of the project, which need not exist. Throws Failure if symlinks lead out of the project or
 * are broken: a clone may contain a link to the user's own settings.
 */
export function targetWithin(root: string, path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  if (isLink && !existsSync(path)) {
    throw new Failure(`${path} is a broken symlink: remove it first`);
  }
  const target = realPath(path);
  if (isBelow(target, root)) return target;
  throw new Failure(
    `${path} leads out of the project, to ${target}: replace the symlink by a file or folder first`,
  );
}

/** The path in a plan's text, with the target of a symlink. */
function withTarget(root: string, path: string): string {
  const target = targetWithin(root, path);
  return target === path ? path : `${path} (a symlink to ${target})`;
}
