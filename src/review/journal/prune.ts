import {
  type Dirent,
  existsSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { removeOld, removeOldDrafts } from "../../lib/drafts";
import { readRegular } from "../../lib/read-regular";
import { compaction, isPartial } from "./compact";
import { isInside, reviewFolder } from "./folder";
import { JOURNAL_BYTES, recordsOf } from "./read";
import { filesOf, type Line, type Plan, rewriteJournal } from "./rewrite";

/** What is kept of one project: this long after a file was last touched, and this much in all. */
export const MOST_DAYS = 30;
export const MOST_BYTES = 200 * 1024 * 1024;

export const DAY_MS = 24 * 60 * 60_000;
/** So long a decision can be taken back. */
export const DECIDED_MS = 7 * DAY_MS;
const EVERY_MS = 60 * 60_000;
/** At least this share of the files goes at once: each round reads the journal again. */
const LEAST_SHARE = 0.05;
/** A blob that was made or used so lately may belong to a record that is still to be written. */
const RECENT_MS = 60 * 60_000;
/** Locks of processes that were about to take one over; folders in which a base commit was put together. */
const IN_REVIEW = /\.lock(\.[0-9a-f]{8})+$|^base-/;
const MOST_FOLDERS = 200;

/** Prunes at most once an hour. Throws the system's error. */
export function pruneSometimes(reviewFolder: string): void {
  const file = join(reviewFolder, "pruned");
  const last = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - last < EVERY_MS) return;
  writeFileSync(file, "", { mode: 0o600 });
  utimesSync(file, new Date(), new Date());
  prune(reviewFolder);
}

/**
 * Forgets what was decided a week ago, files that nobody touched for 30 days, then, while there is too
 * much, whole files: those of which all was kept first, then the ones that were touched longest ago.
 * Throws the system's error.
 */
export function prune(reviewFolder: string, mostBytes = MOST_BYTES, now = Date.now()): void {
  const oldest = now - MOST_DAYS * DAY_MS;
  const untouched = (touched: Touched[]) => touched.filter(({ at }) => at < oldest);
  const decided = compaction(now - DECIDED_MS, now - DAY_MS);
  rewriteJournal(reviewFolder, decided, without(untouched, oldest));
  for (let bytes = removeUnused(reviewFolder, now); bytes > mostBytes; ) {
    const share = Math.max(1 - mostBytes / bytes, LEAST_SHARE);
    const first = (touched: Touched[]) => firstToGo(touched, share);
    if (!rewriteJournal(reviewFolder, without(first, oldest))) break;
    bytes = removeUnused(reviewFolder, now);
  }
}

function firstToGo(touched: readonly Touched[], share: number): Touched[] {
  const kept = touched.filter(({ keptBy }) => keptBy !== undefined);
  const order = (kept.length > 0 ? kept : [...touched]).sort((a, b) => a.at - b.at);
  return order.slice(0, Math.ceil(order.length * share));
}

interface Touched {
  path: string;
  /** In ms since the epoch. */
  at: number;
  /** The decision by which all of it was kept, if nothing came after that. */
  keptBy: unknown;
}

/** Takes the files that are chosen out of every record, and records that are left with none. */
function without(choose: (files: Touched[]) => Touched[], oldest: number): Plan {
  return (lines) => {
    const dropped = new Set<unknown>(choose(touchedFiles(lines)).map(({ path }) => path));
    return (line) => {
      const files = filesOf(line);
      const isOld = typeof line.at === "number" && line.at < oldest;
      if (files.length === 0) return isOld ? null : line;
      const left = files.filter(({ path }) => !dropped.has(path));
      if (left.length === files.length) return line;
      return left.length === 0 ? null : { ...line, files: left };
    };
  };
}

function touchedFiles(lines: readonly Line[]): Touched[] {
  const touched = new Map<string, Touched>();
  for (const line of lines) {
    const { type, id, at, scope, decision } = line;
    if (type === "back") {
      for (const file of touched.values()) if (file.keptBy === decision) file.keptBy = undefined;
    }
    if (typeof at !== "number") continue;
    for (const { path: name, from, keep } of filesOf(line)) {
      const keepsAll = type === "keep" && keep === "all" && !isPartial(scope);
      // What was moved goes, or stays, with the name that it had.
      for (const path of [name, from]) {
        if (typeof path !== "string") continue;
        touched.set(path, { path, at, keptBy: keepsAll ? id : undefined });
      }
    }
  }
  return [...touched.values()];
}

/** Removes the blobs that no record names; returns how many bytes are left in all. */
function removeUnused(reviewFolder: string, now: number): number {
  const used = new Set<string>();
  for (const name of ["journal.jsonl", "snapshot.json"]) {
    const text = readText(join(reviewFolder, name));
    for (const [, hash] of text.matchAll(/"blob":"([0-9a-f]{64})"/g)) used.add(hash as string);
  }
  let bytes = 0;
  const blobs = join(reviewFolder, "blobs");
  // Others put files there, too: `.DS_Store`.
  for (const { name: folder } of entriesOf(blobs).filter((entry) => entry.isDirectory())) {
    for (const { name } of entriesOf(join(blobs, folder)).filter((entry) => entry.isFile())) {
      const path = join(blobs, folder, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      if (!stats) continue;
      if (used.has(name) || now - stats.mtimeMs < RECENT_MS) bytes += stats.size;
      else rmSync(path, { force: true });
    }
  }
  return bytes;
}

function entriesOf(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true });
}

/** Throws where there is something that cannot be read: what it names must not count as unused. */
function readText(path: string): string {
  return existsSync(path) ? readRegular(path, JOURNAL_BYTES).toString("utf8") : "";
}

/**
 * Removes what processes that were killed have left: in the review's own folder, and beside the files
 * below the root, `paths`, that an undo may have written (those of the journal if left out). Never
 * throws.
 */
export function removeLeftovers(root: string, paths?: Iterable<string>): void {
  const folder = reviewFolder(root);
  removeOldDrafts(folder);
  removeOld(folder, IN_REVIEW);
  const folders = new Set<string>();
  const undone = () =>
    recordsOf(folder, "undo")
      .reverse()
      .flatMap(({ files }) => files);
  for (const path of paths ?? undone().map((file) => file.path)) {
    const file = join(root, path);
    if (!folders.has(dirname(file)) && isInside(root, file)) folders.add(dirname(file));
    if (folders.size >= MOST_FOLDERS) break;
  }
  for (const one of folders) removeOldDrafts(one);
}
