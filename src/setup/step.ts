import { lstatSync, mkdirSync, readFileSync, rmdirSync, statSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { writeAtomically } from "../lib/atomic-write";
import { message, UserError } from "../lib/errors";
import type { ProjectRecord } from "./record";
import { targetWithin, withTarget } from "./target";

/** One thing that setting up, or undoing it, does. */
export interface Step {
  /** For the user who is asked: what happens to which file. */
  what: string;
  /** Does it and notes it in the record. Throws UserError or the system's error. */
  run(record: ProjectRecord): void | Promise<void>;
}

/** What is to be done in a project, and what the user should know besides. */
export interface Plan {
  root: string;
  /** Whether the project is set up afterwards. */
  active: boolean;
  steps: Step[];
  notes: string[];
  /** Plans again, from what is there now. */
  again(): Plan;
}

/**
 * The file's text; undefined if there is none. Throws UserError if it cannot be read, or is none: a
 * device or a pipe may have no end.
 */
export function readText(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile()) throw new UserError(`${path} is not a regular file`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new UserError(`${path} cannot be read: ${message(error)}`);
  }
}

/**
 * Gives a file of the project a new text, atomically; its mode and a symlink to it stay. Throws
 * UserError where it leads out of the project.
 */
export function changeFile(root: string, path: string, after: string, what: string): Step {
  const before = readText(path);
  const target = targetWithin(root, path);
  return {
    what: `${before === undefined ? "create" : "change"} ${withTarget(root, path)}: ${what}`,
    run(record) {
      if (readText(path) !== before || targetWithin(root, path) !== target) {
        throw new UserError(`${path} was changed in the meantime; try again`);
      }
      makeFolder(dirname(path), record);
      writeAtomically(path, after);
      const last = record.files[path];
      // Changed by another program since we did: what was before must not come back over that.
      if (last && last.after !== before) delete record.files[path];
      else record.files[path] = { before: last ? last.before : (before ?? null), after };
    },
  };
}

/**
 * Undoes what was done to a file: byte for byte if nothing has changed it since. Throws UserError where
 * it leads out of the project.
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
      targetWithin(root, path);
      if (before === null) unlinkSync(path);
      else writeAtomically(path, before);
      delete current.files[path];
    },
  };
}

/** Makes a folder and those above it, and remembers which were missing. */
export function makeFolder(path: string, record: ProjectRecord): void {
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  makeFolder(dirname(path), record);
  mkdirSync(path);
  record.folders.push(path);
}

/** Removes the folders that we made, unless something else is in them. */
export function removeFolders(record: ProjectRecord): void {
  for (const folder of record.folders.reverse()) {
    try {
      rmdirSync(folder);
    } catch {
      // Not empty, or gone.
    }
  }
  record.folders = [];
}
