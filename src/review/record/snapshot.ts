import { rmSync } from "node:fs";
import { writePrivateFile } from "../../lib/atomic-write";
import { own, readPrivateJson } from "../../lib/json";
import { namesIn } from "../../lib/paths";
import { join } from "../../lib/platform";
import { differingEverywhere, type Indexes, type Staged } from "../git/differing";
import type { Content } from "../journal/record";
import { stampOf } from "../state/contents";
import { readState } from "./file-state";
import type { RecordedProject } from "./recorded-project";

/** The state of a file that differs from HEAD. */
export interface SnapshotFile {
  content: Content;
  /** Size, mtime, ctime and inode; "" for an absent file. */
  stamp: string;
  /** Permission bits; 0 for an absent file. */
  mode: number;
  symlink?: boolean;
  /** The state before a change whose author is unknown so far. */
  undecided?: SeenFile;
}

/**
 * The state of a file at the time `at`, by default that of its snapshot, until it changed at the time `until`. Both
 * times are in ms since the epoch.
 */
export type SeenFile = SnapshotFile & { at?: number; until?: number };

/**
 * The work tree at one moment: HEAD, and each file that differs from HEAD. We neither make a git tree nor write git's
 * index or objects, because untracked and private files must not enter them.
 */
export interface Snapshot {
  v: 1;
  /** Before we read the first file, in ms since the epoch. */
  at: number;
  head: string | null;
  /** HEAD of each inner repository, by its folder. */
  nested?: Record<string, string | null>;
  files: Record<string, SnapshotFile>;
  staged?: Staged;
  indexes?: Indexes;
  /** The number of files that are unreadable, or whose names are not UTF-8. */
  unknown: number;
  /** The first of those files. */
  missing?: string[];
}

const NAME = "snapshot.json";
const INDEXES = "indexes";
const MAX_FILES = 20_000;
const MAX_ATTEMPTS = 5;
const MAX_MISSING = 3;

/** The last snapshot; undefined if it is missing or unreadable. */
export function readSnapshot(reviewFolder: string): Snapshot | undefined {
  const snapshot = readPrivateJson(join(reviewFolder, NAME)) as Snapshot | undefined;
  return snapshot?.v === 1 ? snapshot : undefined;
}

/** Throws the system's error. */
export function writeSnapshot(reviewFolder: string, now: Snapshot): void {
  writePrivateFile(join(reviewFolder, NAME), JSON.stringify(now));
}

/** Removes the copies of git's index that do not belong to the last snapshot. */
export function dropIndexCopies(reviewFolder: string, last: Snapshot | undefined): void {
  for (const name of namesIn(join(reviewFolder, INDEXES))) {
    if (name === `${last?.at}`) continue;
    rmSync(join(reviewFolder, INDEXES, name), { recursive: true, force: true });
  }
}

/** The path of the copy of an index for the snapshot of that time. `repository` is the folder of the repository. */
export function indexCopy(reviewFolder: string, at: number, repository: string): string {
  return join(reviewFolder, INDEXES, `${at}`, Bun.hash(repository).toString(36));
}

/**
 * Reads the work tree, or without git the files at `known`. Undefined if git fails, if too many files differ, or if HEAD
 * keeps moving.
 */
export function takeSnapshot(
  project: RecordedProject,
  last: Snapshot | undefined,
  known: readonly string[],
): Snapshot | undefined {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const snapshot = snapshotAt(project, last, known);
    // A file that was committed in between is clean, but its content is not that of the earlier HEAD.
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
    : { ...NO_GIT, paths: known };
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

const NO_NAMES: string[] = [];
const NO_GIT = { head: null, nameless: NO_NAMES, nested: {}, unknown: 0, staged: {}, indexes: {} };

/** The state of a path below the root. Undefined if it is not a file, or cannot be read. */
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
    // The file was removed after git listed it, or a file has replaced its folder.
    const isGone = code === "ENOENT" || code === "ENOTDIR";
    return isGone ? { content: { absent: true }, stamp: "", mode: 0 } : undefined;
  }
}
