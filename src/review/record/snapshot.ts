import { rmSync } from "node:fs";
import { join } from "node:path";
import { writePrivateFile } from "../../lib/atomic-write";
import { own, readPrivateJson } from "../../lib/json";
import { namesIn } from "../../lib/paths";
import { differingEverywhere, type Indexes, type Staged } from "../git/differing";
import type { Content } from "../journal/record";
import { stampOf } from "../state/contents";
import { readState } from "./file-state";
import type { RecordedProject } from "./recorded-project";

/** A file that differs from HEAD: its content, and a stamp that shows whether that has changed. */
export interface SnapshotFile {
  content: Content;
  /** Size, mtime, ctime, inode; "" where it is absent. */
  stamp: string;
  /** Permission bits; 0 where it is absent. */
  mode: number;
  symlink?: boolean;
  /** Its content before a change whose author is not known yet. */
  undecided?: SeenFile;
}

/**
 * `at`: when it held this, in ms since the epoch, where that is not the time of its snapshot. `until`:
 * when it changed.
 */
export type SeenFile = SnapshotFile & { at?: number; until?: number };

/**
 * The work tree at one moment: HEAD, and each file that differs from it. No tree of git's is made, and
 * neither its index nor its objects are written: what is untracked or private must not enter them.
 */
export interface Snapshot {
  v: 1;
  /** In ms since the epoch, before the first file was looked at. */
  at: number;
  head: string | null;
  /** HEAD of the repositories inside of this one, by their folders. */
  nested?: Record<string, string | null>;
  files: Record<string, SnapshotFile>;
  staged?: Staged;
  indexes?: Indexes;
  /** Files that could not be read, and names that are not UTF-8; `missing`: the first of them. */
  unknown: number;
  missing?: string[];
}

const NAME = "snapshot.json";
const INDEXES = "indexes";
const MAX_FILES = 20_000;
const MAX_ATTEMPTS = 5;
const MAX_MISSING = 3;

/** The last one; undefined if there is none that can be read. */
export function readSnapshot(reviewFolder: string): Snapshot | undefined {
  const snapshot = readPrivateJson(join(reviewFolder, NAME)) as Snapshot | undefined;
  return snapshot?.v === 1 ? snapshot : undefined;
}

/** Throws the system's error. */
export function writeSnapshot(reviewFolder: string, now: Snapshot): void {
  writePrivateFile(join(reviewFolder, NAME), JSON.stringify(now));
}

/** Removes the copies of git's index that belong to no snapshot any more, also of one that could not be taken. */
export function dropIndexCopies(reviewFolder: string, last: Snapshot | undefined): void {
  for (const name of namesIn(join(reviewFolder, INDEXES))) {
    if (name === `${last?.at}`) continue;
    rmSync(join(reviewFolder, INDEXES, name), { recursive: true, force: true });
  }
}

/** The copy of git's index that belongs to the snapshot of that time; of an inner repository by its folder. */
export function indexCopy(reviewFolder: string, at: number, repository: string): string {
  return join(reviewFolder, INDEXES, `${at}`, Bun.hash(repository).toString(36));
}

/**
 * Reads the work tree; without git the files at `known`. Undefined if git fails or too much differs, or
 * one commit follows another all the time.
 */
export function takeSnapshot(
  project: RecordedProject,
  last: Snapshot | undefined,
  known: readonly string[],
): Snapshot | undefined {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const snapshot = snapshotAt(project, last, known);
    // A file that was committed since is clean, and did not hold what the HEAD of before says.
    if (!snapshot || (project.head() ?? null) === snapshot.head) return snapshot;
  }
  return undefined;
}

function snapshotAt(
  project: RecordedProject,
  last: Snapshot | undefined,
  known: readonly string[],
): Snapshot | undefined {
  const at = Date.now();
  const { root, git } = project;
  const found = project.isRepository
    ? git && differingEverywhere(root, git, (one) => indexCopy(project.folder, at, one))
    : {
        head: null,
        paths: known,
        nameless: [] as string[],
        nested: {},
        unknown: 0,
        staged: {},
        indexes: {},
      };
  if (!found || found.paths.length > MAX_FILES) return undefined;
  const { head, nested, unknown, staged, indexes } = found;
  const snapshot: Snapshot = { v: 1, at, head, nested, files: {}, staged, indexes, unknown };
  const missing: string[] = [];
  for (const path of found.paths) {
    const file = found.nameless.includes(path) ? undefined : snapshotFile(project, path, last);
    if (file) snapshot.files[path] = file;
    else missing.push(path);
  }
  snapshot.unknown += missing.length;
  snapshot.missing = missing.slice(0, MAX_MISSING);
  return snapshot;
}

/** A path's content below the root. Undefined if it is not a file, or cannot be read. */
export function snapshotFile(
  project: RecordedProject,
  path: string,
  last?: Snapshot,
): SnapshotFile | undefined {
  try {
    const state = readState(project, path, last && own(last.files, path));
    if (!state) return undefined;
    const { content, stats, symlink } = state;
    const mode = stats ? stats.mode & 0o777 : 0;
    return { content, stamp: stampOf(stats), mode, ...(symlink && { symlink }) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOSPC") throw error;
    // The file was removed after it was listed, or a file has replaced its folder.
    const isGone = code === "ENOENT" || code === "ENOTDIR";
    return isGone ? { content: { absent: true }, stamp: "", mode: 0 } : undefined;
  }
}
