import { lstatSync } from "node:fs";
import { message } from "../lib/errors";
import { realPath } from "../lib/paths";
import { readRegular } from "../lib/read-regular";
import { EditProblem, FileProblem } from "./problem";
import { applyTextEdits, type EncodedEdit, type Judge } from "./text-edits";

/** Larger files, and more of them, are no work of a language server's. */
const MOST_BYTES = 10 * 1024 * 1024;
const MOST_FILES = 2_000;
/** What is kept for the undo. */
const MOST_BYTES_IN_ALL = 100 * 1024 * 1024;

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

interface VirtualFile {
  before: Uint8Array | undefined;
  now: Uint8Array | undefined;
  /** Not applied yet: all of them are about the text as it is now. */
  pending: EncodedEdit[];
  edits: number;
  from?: string | undefined;
}

interface FileOptions {
  overwrite?: boolean | undefined;
  ignoreIfExists?: boolean | undefined;
  ignoreIfNotExists?: boolean | undefined;
}

/** Files as they will be: each is read once, and nothing is written. Every method throws EditProblem. */
export class VirtualFiles {
  readonly #files = new Map<string, VirtualFile>();
  #bytes = 0;

  constructor(private readonly judge?: Judge) {}

  edit(path: string, edits: readonly EncodedEdit[]): void {
    const file = this.#file(path);
    if (!file.now) throw new EditProblem(`${path} does not exist.`);
    file.pending.push(...edits);
    file.edits += edits.length;
  }

  create(path: string, { overwrite, ignoreIfExists }: FileOptions = {}): void {
    const file = this.#file(path);
    if (file.now && !overwrite) {
      if (ignoreIfExists) return;
      throw new EditProblem(`${path} exists already.`);
    }
    Object.assign(file, { now: new Uint8Array(), pending: [] });
  }

  remove(path: string, { ignoreIfNotExists }: FileOptions = {}): void {
    const file = this.#file(path);
    if (!file.now && !ignoreIfNotExists) throw new EditProblem(`${path} does not exist.`);
    Object.assign(file, { now: undefined, pending: [] });
  }

  move(from: string, to: string, options: FileOptions = {}): void {
    const file = this.#file(from);
    const target = this.#file(to);
    if (!file.now) throw new EditProblem(`${from} does not exist.`);
    if (file === target) return;
    if (target.now && !options.overwrite) {
      if (options.ignoreIfExists) return;
      throw new EditProblem(`${to} exists already.`);
    }
    const moved = { ...file, before: target.before, from: file.from ?? realPath(from) };
    Object.assign(target, moved);
    Object.assign(file, { now: undefined, pending: [], edits: 0, from: undefined });
  }

  /** What the operation changes, sorted by path. */
  changes(): FileChange[] {
    const changes: FileChange[] = [];
    for (const [path, file] of [...this.#files].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const { before, edits, from } = file;
      const after = file.now && edited(path, file.now, file.pending, this.judge);
      if (isSame(before, after)) continue;
      if (after && after.length > MOST_BYTES) {
        throw new EditProblem(`${path} would have more than 10 MB.`);
      }
      changes.push({
        path,
        before,
        after,
        edits,
        ...(from !== undefined && { from }),
      });
    }
    return changes;
  }

  #file(given: string): VirtualFile {
    const path = realPath(given);
    const known = this.#files.get(path);
    if (known) return known;
    if (this.#files.size === MOST_FILES) {
      throw new EditProblem(`More than ${MOST_FILES} files would change.`);
    }
    const before = readFile(path);
    this.#bytes += before?.length ?? 0;
    if (this.#bytes > MOST_BYTES_IN_ALL) throw new EditProblem("More than 100 MB would change.");
    const file = { before, now: before, pending: [], edits: 0 };
    this.#files.set(path, file);
    return file;
  }
}

function edited(path: string, now: Uint8Array, edits: EncodedEdit[], judge?: Judge): Uint8Array {
  if (edits.length === 0) return now;
  try {
    return applyTextEdits(now, edits, judge);
  } catch (error) {
    throw error instanceof FileProblem ? new EditProblem(`${path} ${error.message}.`) : error;
  }
}

function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a && b ? Buffer.compare(a, b) === 0 : a === b;
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
