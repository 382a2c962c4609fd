import { lstatSync } from "node:fs";
import { message } from "../lib/errors";
import { readRegular } from "../lib/read-regular";
import { EditProblem } from "./problem";

const MOST_BYTES = 10 * 1024 * 1024;

/** A file before and after an operation; undefined: it is not there. */
export interface FileChange {
  /** Absolute, symlinks resolved. */
  path: string;
  before: Uint8Array | undefined;
  after: Uint8Array | undefined;
  /** How many text edits were made in it. */
  edits: number;
  /** The path that the file is moved from. */
  from?: string;
  /** Its permission bits after it, or, of one that goes, before it; without them nothing is known of them. */
  mode?: number;
}

/** The changes as Lua takes them. */
export function changeEvents(changes: readonly FileChange[]): { path: string; change: string }[] {
  return changes.map(({ path, before, after }) => ({
    path,
    change: !before ? "created" : after ? "changed" : "deleted",
  }));
}

export function readFile(path: string): Uint8Array | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (stats.isDirectory()) throw new EditProblem(`${path} is a folder: only files can be changed.`);
  try {
    return readRegular(path, MOST_BYTES);
  } catch (error) {
    throw new EditProblem(`${path} cannot be read: ${message(error)}.`);
  }
}
