import { existsSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { removeOld, removeOldDrafts } from "../../lib/atomic-write";
import { below, type Place } from "../../lib/below";
import { attempt } from "../../lib/errors";
import { touch } from "../../lib/private-folder";
import { readRegular } from "../../lib/read-regular";
import { reviewFolder } from "./folder";
import { JOURNAL_BYTES } from "./read";
import { filesOf, type Line, type LineFile, type Plan, rewriteJournal } from "./rewrite";

/** Limits of one project's journal: time since a file was last touched, and size in all. */
export const MAX_DAYS = 30;
export const MAX_BYTES = 200 * 1024 * 1024;

export const DAY_MS = 24 * 60 * 60_000;
/** How long a decision can be taken back. */
export const DECIDED_MS = 7 * DAY_MS;
const EVERY_MS = 60 * 60_000;
/** At least this share of the files is pruned at once, since each round reads the journal again. */
const MIN_SHARE = 0.05;
/** A blob that was made or used so lately may belong to a record that is still to be written. */
const RECENT_MS = 60 * 60_000;
/** Locks of processes that were about to take one over. */
const IN_REVIEW = /\.lock(\.[0-9a-f]{8})+$/;
const MAX_FOLDERS = 200;
const WITH_TYPES = { withFileTypes: true } as const;

/** Whether a file waits for a decision: pruning forgets nothing of such a file. */
export type Waits = (path: string) => boolean;

/** Prunes at most once an hour, even if the clock was set back. Throws the system's error. */
export async function pruneSometimes(folder: string, waits: () => Promise<Waits>): Promise<void> {
  const file = join(folder, "pruned");
  const last = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Math.abs(Date.now() - last) < EVERY_MS) return;
  touch(file);
  const now = new Date();
  utimesSync(file, now, now);
  prune(folder, await waits(), MAX_BYTES, now.getTime());
}

/**
 * Forgets decisions older than a week and files untouched for 30 days, then, while the journal is too large, whole
 * files, least recently touched first. Keeps pending changes, however old and large, and records newer than `now` (ms
 * since the epoch), the time for which `waits` answers. Throws the system's error.
 */
export function prune(
  reviewFolder: string,
  waits: Waits,
  mostBytes = MAX_BYTES,
  now = Date.now(),
): void {
  const oldest = now - MAX_DAYS * DAY_MS;
  const decided = (those: Touched[]) => those.filter(({ at, path }) => at <= now && !waits(path));
  const untouched = (touched: Touched[]) => decided(touched.filter(({ at }) => at < oldest));
  const old = compaction(now - DECIDED_MS, now - DAY_MS);
  rewriteJournal(reviewFolder, old, without(untouched, oldest));
  for (let bytes = removeUnused(reviewFolder, now); bytes > mostBytes; ) {
    const share = Math.max(1 - mostBytes / bytes, MIN_SHARE);
    const first = (touched: Touched[]) => oldestOf(decided(touched), share);
    if (!rewriteJournal(reviewFolder, without(first, oldest))) break;
    bytes = removeUnused(reviewFolder, now);
  }
}

function oldestOf(touched: readonly Touched[], share: number): Touched[] {
  const order = touched.toSorted((a, b) => a.at - b.at);
  return order.slice(0, Math.ceil(order.length * share));
}

interface Touched {
  path: string;
  /** In ms since the epoch. */
  at: number;
}

/**
 * Takes the files that are chosen out of every record, and records that are left with none; and old ones
 * without files that are about nothing that is left.
 */
function without(choose: (files: Touched[]) => Touched[], oldest: number): Plan {
  return (lines) => {
    const dropped = new Set<unknown>(choose(touchedFiles(lines)).map(({ path }) => path));
    const leftOf = (line: Line) => filesOf(line).filter(({ path }) => !dropped.has(path));
    const needed = neededBy(lines.filter((line) => leftOf(line).length > 0));
    for (const { type, id, comment, state } of lines) {
      if (type !== "comment") continue;
      if (state === "open") needed.add(comment ?? id);
      else needed.delete(comment ?? id);
    }
    return (line) => {
      const { at, session, decision, comment, id } = line;
      const files = filesOf(line);
      if (files.length === 0) {
        const isOld = typeof at === "number" && at < oldest;
        return isOld && ![session, decision, comment, id].some((one) => needed.has(one))
          ? null
          : line;
      }
      const left = leftOf(line);
      if (left.length === files.length) return line;
      return left.length === 0 ? null : { ...line, files: left };
    };
  };
}

/** The sessions of these records, and their own ids, which others name. */
function neededBy(lines: readonly Line[]): Set<unknown> {
  const needed = new Set(lines.flatMap(({ id, session }) => [id, session]));
  needed.delete(undefined);
  return needed;
}

function touchedFiles(lines: readonly Line[]): Touched[] {
  const touched = new Map<string, Touched>();
  for (const line of lines) {
    const { at } = line;
    if (typeof at !== "number") continue;
    // A moved file is kept or pruned together with its old name.
    for (const path of filesOf(line).flatMap(({ path, from }) => [path, from])) {
      if (typeof path === "string") touched.set(path, { path, at });
    }
  }
  return [...touched.values()];
}

/** Removes the blobs that no record names, also one of a later version; returns how many bytes are left in all. */
function removeUnused(reviewFolder: string, now: number): number {
  const used = new Set<string>();
  for (const name of ["journal.jsonl", "snapshot.json"]) {
    const path = join(reviewFolder, name);
    // An unreadable journal is an error: the blobs that it names must not count as unused.
    const text = existsSync(path) ? readRegular(path, JOURNAL_BYTES).toString() : "";
    for (const [, hash] of text.matchAll(/"([0-9a-f]{64})"/g)) used.add(hash as string);
  }
  let bytes = 0;
  const blobs = join(reviewFolder, "blobs");
  // Others put files there, too: `.DS_Store`.
  for (const folder of readdirSync(blobs, WITH_TYPES).filter((entry) => entry.isDirectory())) {
    const names = readdirSync(join(blobs, folder.name), WITH_TYPES);
    for (const { name } of names.filter((entry) => entry.isFile())) {
      const path = join(blobs, folder.name, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      if (!stats) continue;
      if (used.has(name) || now - stats.mtimeMs < RECENT_MS) bytes += stats.size;
      else rmSync(path, { force: true });
    }
  }
  return bytes;
}

/**
 * Removes what processes that were killed have left: in the review's own folder, and beside the files
 * below the root, `paths`, that an undo may have written. One of these stays, whatever it is called: Claude
 * has changed it. Never throws.
 */
export function removeLeftovers(root: string, paths: Iterable<string>): void {
  const own = reviewFolder(root);
  removeOldDrafts(own);
  removeOld(own, IN_REVIEW);
  for (const files of [...Map.groupBy(paths, dirname).values()].slice(0, MAX_FOLDERS)) {
    const names = new Set(files.map((path) => basename(path)));
    const remove = ({ path }: Place) => removeOldDrafts(dirname(path), Date.now(), names);
    // It may lie behind a symlink, or be closed to us.
    attempt(() => below(root, files[0] ?? "", remove));
  }
}

/** The journal's records of one file. */
class History {
  /** The records that are about it, in order. */
  readonly ids: unknown[] = [];
  /** The index of the last one that gives its text. */
  #last = -1;
  /** Up to the text that was kept as a whole: what the records before it say is decided. */
  #keptFrom = -1;
  /** The decision that kept it. */
  keptBy: unknown;
  /** It was moved, or a decision was taken back: the records belong together. */
  isTied = false;

  add(id: unknown, type: unknown): void {
    this.ids.push(id);
    if (type === "change" || type === "written" || type === "undo")
      this.#last = this.ids.length - 1;
  }

  keep(id: unknown): void {
    [this.#keptFrom, this.keptBy] = [this.#last, id];
  }

  /** The records that this file no longer needs. */
  get decided(): unknown[] {
    if (this.isTied || this.#keptFrom < 1) return [];
    const needed = this.ids[this.#keptFrom];
    return this.ids.slice(0, this.#keptFrom).filter((id) => id !== needed);
  }
}

const CALLS = new Set<unknown>(["begin", "change"]);
const TURNS = new Set<unknown>(["prompt", "stop", "end"]);

/**
 * Takes out of the journal what says nothing of what waits (times in ms since the epoch): of a file that
 * was kept as a whole before `before` all but the last text and that decision, and what calls and turns
 * left that changed no file before `ended`. The list, and the decisions that can be undone, stay as they are;
 * decisions before `before` can no longer be taken back.
 */
export function compaction(before: number, ended = before): Plan {
  return (lines) => compacted(lines, before, ended);
}

function compacted(lines: readonly Line[], before: number, ended: number): ReturnType<Plan> {
  const histories = historiesOf(lines, before);
  const decided = new Map<unknown, Set<unknown>>();
  for (const [path, history] of histories) {
    for (const id of history.decided) decided.set(id, (decided.get(id) ?? new Set()).add(path));
  }
  const { sessions, uses } = needed(lines, decided);
  let head: unknown;
  return (line) => {
    const movesHead = line.head !== undefined && line.head !== head;
    head = line.head ?? head;
    const files = filesOf(line);
    const left = files.filter(({ path }) => !decided.get(line.id)?.has(path));
    if (left.length < files.length) {
      return left.length > 0 || movesHead ? { ...line, files: left } : null;
    }
    const isOld = typeof line.at === "number" && line.at < ended;
    if (isOld && line.type === "seen") return null;
    if (isOld && files.length === 0 && !movesHead && !("index" in line)) {
      if (CALLS.has(line.type) && !uses.has(line.use)) return null;
      if (TURNS.has(line.type) && !sessions.has(line.session)) return null;
    }
    return withoutBase(line, histories);
  };
}

function historiesOf(lines: readonly Line[], before: number): Map<unknown, History> {
  const histories = new Map<unknown, History>();
  const of = (path: unknown) => {
    const history = histories.get(path) ?? new History();
    histories.set(path, history);
    return history;
  };
  const pathsOf = new Map<unknown, unknown[]>();
  for (const line of lines) {
    const { type, id, at, scope } = line;
    for (const { path, from, keep } of filesOf(line)) {
      const history = of(path);
      history.add(id, type);
      if (from !== undefined) history.isTied = of(from).isTied = true;
      // If it is of one session, turn or call alone, what the others changed still waits.
      const isPartial = scope?.session ?? scope?.prompt ?? scope?.change;
      const keepsAll = type === "keep" && keep === "all" && isPartial === undefined;
      if (keepsAll && typeof at === "number" && at < before) history.keep(id);
    }
    if (type === "keep" || type === "undo") {
      pathsOf.set(
        id,
        filesOf(line).map(({ path }) => path),
      );
    }
    if (type === "back")
      for (const path of pathsOf.get(line.decision) ?? []) of(path).isTied = true;
  }
  return histories;
}

/** Sessions and calls of which changes are left. */
function needed(lines: readonly Line[], decided: ReadonlyMap<unknown, ReadonlySet<unknown>>) {
  const sessions = new Set<unknown>();
  const uses = new Set<unknown>();
  for (const line of lines) {
    const gone = decided.get(line.id);
    if (filesOf(line).every(({ path }) => gone?.has(path))) continue;
    sessions.add(line.session);
    if (line.use !== undefined) uses.add(line.use);
  }
  return { sessions, uses };
}

/** The base text of a decision was another one, by the changes that are gone. */
function withoutBase(line: Line, histories: ReadonlyMap<unknown, History>): Line {
  const isShort = (file: LineFile) => {
    const history = histories.get(file.path);
    return history?.keptBy === line.id && history?.decided.length !== 0 && "base" in file;
  };
  if (line.type !== "keep" || !filesOf(line).some(isShort)) return line;
  const files = filesOf(line).map((file) => {
    if (!isShort(file)) return file;
    const { base, ...rest } = file as { base?: unknown };
    return rest;
  });
  return { ...line, files };
}
