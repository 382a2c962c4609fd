import { existsSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { removeOld, removeOldDrafts } from "../../lib/atomic-write";
import { below, type Place } from "../../lib/below";
import { attempt } from "../../lib/errors";
import { basename, dirname, join } from "../../lib/platform";
import { touch } from "../../lib/private-folder";
import { readRegular } from "../../lib/read-regular";
import { reviewFolder } from "./folder";
import { JOURNAL_BYTES } from "./read";
import { filesOf, type Line, type LineFile, type Plan, rewriteJournal } from "./rewrite";

/** The journal forgets files that were not touched for this long. */
export const MAX_DAYS = 30;
/** The maximum size of a project's blobs. */
export const MAX_BYTES = 200 * 1024 * 1024;

export const DAY_MS = 24 * 60 * 60_000;
/** How long a decision can be taken back. */
export const DECIDED_MS = 7 * DAY_MS;
const EVERY_MS = 60 * 60_000;
/** Each round reads the journal again, so a round prunes at least this share of the files. */
const MIN_SHARE = 0.05;
/** The record of a blob that was made or used this recently may not be written yet. */
const RECENT_MS = 60 * 60_000;
/** Locks of processes that were killed while they took over another process's lock. */
const LOCKS = /\.lock(\.[0-9a-f]{8})+$/;
const MAX_FOLDERS = 200;
const WITH_TYPES = { withFileTypes: true } as const;

/** Whether a file waits for a decision. Pruning keeps all records of a waiting file. */
export type Waits = (path: string) => boolean;

/** Prunes at most once an hour, even if the clock is set back. Throws the system's error. */
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
 * Forgets decisions older than a week and files untouched for 30 days. While the journal is still too large, it forgets
 * whole files, the least recently touched first. It keeps pending changes of any age and size, and records newer than
 * `now` (ms since the epoch), because `waits` answers for that time. Throws the system's error.
 */
export function prune(
  reviewFolder: string,
  waits: Waits,
  mostBytes = MAX_BYTES,
  now = Date.now(),
): void {
  const oldest = now - MAX_DAYS * DAY_MS;
  const decided = (touched: Touched[]) =>
    touched.filter(({ at, path }) => at <= now && !waits(path));
  const untouched = (touched: Touched[]) => decided(touched.filter(({ at }) => at < oldest));
  const old = compaction(now - DECIDED_MS, now - DAY_MS);
  rewriteJournal(reviewFolder, old, without(untouched, oldest));
  for (let bytes = removeUnused(reviewFolder, now); bytes > mostBytes; ) {
    const share = Math.max(1 - mostBytes / bytes, MIN_SHARE);
    const first = (touched: Touched[]) => {
      const order = decided(touched).sort((a, b) => a.at - b.at);
      return order.slice(0, Math.ceil(order.length * share));
    };
    if (!rewriteJournal(reviewFolder, without(first, oldest))) break;
    bytes = removeUnused(reviewFolder, now);
  }
}

interface Touched {
  path: string;
  /** In ms since the epoch. */
  at: number;
}

/**
 * Removes the chosen files from every record. Then removes records that have no files left, and old records without
 * files to which no remaining record refers.
 */
function without(choose: (files: Touched[]) => Touched[], oldest: number): Plan {
  return (lines) => {
    const dropped = new Set<unknown>(choose(touchedFiles(lines)).map(({ path }) => path));
    const leftOf = (line: Line) => filesOf(line).filter(({ path }) => !dropped.has(path));
    const remaining = lines.filter((line) => leftOf(line).length > 0);
    // Records refer to others by session and id.
    const needed = new Set(remaining.flatMap(({ id, session }) => [id, session]));
    needed.delete(undefined);
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

/** Removes blobs that no record names, in the format of any version. Returns the size of the remaining blobs in bytes. */
function removeUnused(reviewFolder: string, now: number): number {
  const used = new Set<string>();
  for (const name of ["journal.jsonl", "snapshot.json"]) {
    const path = join(reviewFolder, name);
    // If the journal is unreadable, throw: its blobs must not count as unused.
    const text = existsSync(path) ? readRegular(path, JOURNAL_BYTES).toString() : "";
    for (const [, hash] of text.matchAll(/"([0-9a-f]{64})"/g)) used.add(hash as string);
  }
  let bytes = 0;
  const blobs = join(reviewFolder, "blobs");
  // Other programs put files there, for example `.DS_Store`.
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
 * Removes drafts and locks of killed processes: in the review's folder, and beside the files at `paths` below the root,
 * which an undo may have written. Never removes one of these files, whatever its name. Never throws.
 */
export function removeLeftovers(root: string, paths: Iterable<string>): void {
  const own = reviewFolder(root);
  removeOldDrafts(own);
  removeOld(own, LOCKS);
  for (const files of [...Map.groupBy(paths, dirname).values()].slice(0, MAX_FOLDERS)) {
    const names = new Set(files.map((path) => basename(path)));
    const remove = ({ path }: Place) => removeOldDrafts(dirname(path), Date.now(), names);
    // The folder may be behind a symlink, or unreadable.
    attempt(() => below(root, files[0] ?? "", remove));
  }
}

/** The journal's records of one file. */
class History {
  /** In order. */
  readonly ids: unknown[] = [];
  /** The index of the last record with a text of the file. */
  #last = -1;
  /** The index of the text that was kept as a whole. Earlier records are decided. */
  #keptFrom = -1;
  /** The decision that kept this text. */
  keptBy: unknown;
  /** The file was moved, or a decision about it was taken back, so its records depend on each other. */
  isTied = false;

  add(id: unknown, type: unknown): void {
    this.ids.push(id);
    if (TEXTS.has(type)) this.#last = this.ids.length - 1;
  }

  keep(id: unknown): void {
    [this.#keptFrom, this.keptBy] = [this.#last, id];
  }

  /** The records that are no longer needed for this file. */
  get decided(): unknown[] {
    if (this.isTied || this.#keptFrom < 1) return [];
    const needed = this.ids[this.#keptFrom];
    return this.ids.slice(0, this.#keptFrom).filter((id) => id !== needed);
  }
}

const TEXTS = new Set<unknown>(["change", "written", "undo", "restore"]);
const DECISIONS = new Set<unknown>(["keep", "undo", "restore"]);
const CALLS = new Set<unknown>(["begin", "change"]);
const TURNS = new Set<unknown>(["prompt", "stop", "end"]);

/**
 * Removes records that no waiting change needs (times are in ms since the epoch). If a file was kept as a whole before
 * `before`, only its last text and that decision stay. Calls and turns before `ended` are removed if they changed no
 * file. The list and newer decisions stay unchanged; decisions before `before` can no longer be taken back.
 */
export function compaction(before: number, ended = before): Plan {
  return (lines) => {
    const histories = historiesOf(lines, before);
    const decided = new Map<unknown, Set<unknown>>();
    for (const [path, history] of histories) {
      for (const id of history.decided) decided.set(id, (decided.get(id) ?? new Set()).add(path));
    }
    const leftOf = (line: Line) =>
      filesOf(line).filter(({ path }) => !decided.get(line.id)?.has(path));
    const changing = lines.filter((line) => leftOf(line).length > 0);
    const sessions = new Set(changing.map(({ session }) => session));
    const uses = new Set(changing.map(({ use }) => use));
    uses.delete(undefined);
    let head: unknown;
    return (line) => {
      const movesHead = line.head !== undefined && line.head !== head;
      head = line.head ?? head;
      const files = filesOf(line);
      const left = leftOf(line);
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
  };
}

function historiesOf(lines: readonly Line[], before: number): Map<unknown, History> {
  const histories = new Map<unknown, History>();
  const of = (path: unknown) => {
    const history = histories.get(path) ?? new History();
    histories.set(path, history);
    return history;
  };
  const decisions = new Map<unknown, Line>();
  for (const line of lines) {
    const { type, id, at, scope } = line;
    for (const { path, from, keep } of filesOf(line)) {
      const history = of(path);
      history.add(id, type);
      if (from !== undefined) history.isTied = of(from).isTied = true;
      // After a decision about one session, turn or call, the changes of the others still wait.
      const isPartial = scope?.session ?? scope?.prompt ?? scope?.change;
      const keepsAll = type === "keep" && keep === "all" && isPartial === undefined;
      if (keepsAll && typeof at === "number" && at < before) history.keep(id);
    }
    if (DECISIONS.has(type)) decisions.set(id, line);
    const takenBack = type === "back" ? decisions.get(line.decision) : undefined;
    for (const { path } of filesOf(takenBack ?? {})) of(path).isTied = true;
  }
  return histories;
}

/** Removes the hash of the base text from decisions: without the removed changes, the base text differs. */
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
