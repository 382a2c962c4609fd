import type { NewRecord, RecordedScope, RecordOf } from "../journal/record";
import { hashOfLines } from "../state/contents";
import { asListed, type Entry, entryOf, type Kind, modeOf, movesIn } from "../state/entry";
import type { ReviewedProject } from "../state/reviewed-project";
import { scopeOf, type TrackedFile } from "../state/tracked-file";
import type { Selection } from "../weave/decision";
import type { Hunk, Rows } from "../weave/hunks";
import { sameLines } from "../weave/lines";
import type { Scope } from "../weave/row";

/** Each completes "FILE …" in a message. */
const NOT_THERE = "has nothing to review in these lines";
const CHANGED = "has changed since it was shown: look at it again";

/** A file of a request, and the part of it to decide about; by default all of it. */
export interface Target {
  /** Relative to the root. */
  path: string;
  /** The text of a buffer; without it, we read the disk. */
  text?: Uint8Array | undefined;
  /** Ids from the list; "file" is the whole file, "mode" its mode. */
  hunks?: readonly string[] | undefined;
  /** First and last row in the current text, from 1. */
  range?: readonly [number, number] | undefined;
}

/** The result for a file of a request. `problem` is a sentence for the user that says why nothing was done. */
export interface Outcome {
  path: string;
  problem?: string;
}

type KeptFile = RecordOf<"keep">["files"][number];

/**
 * Keeps the targets as one decision, unless nothing is left to keep. Throws the system's error if it cannot record the
 * decision.
 */
export function keep(
  project: ReviewedProject,
  targets: readonly Target[],
  recorded?: RecordedScope,
  why: RecordOf<"keep">["why"] = "user",
) {
  const scope = scopeOf(recorded);
  const files: KeptFile[] = [];
  const outcomes = findAll(project, targets, scope).map(({ target, found }): Outcome => {
    if ("problem" in found) return { path: target.path, problem: found.problem };
    files.push(...found.files.map((entry) => keptFile(project, entry, found.what, scope)));
    return { path: target.path };
  });
  const { decision, stale } = decided(project, files, (left) => {
    return { type: "keep", why, files: left, scope: recorded };
  });
  for (const outcome of outcomes) {
    if (stale.has(outcome.path)) outcome.problem = `${outcome.path} ${CHANGED}`;
  }
  return { decision, files: outcomes };
}

/** Records a decision. Leaves out `stale` files, for which a hook has just recorded a change that the user has not seen. */
function decided(
  project: ReviewedProject,
  files: KeptFile[],
  record: (files: KeptFile[]) => NewRecord,
): { decision: string | undefined; stale: Set<string> } {
  if (files.length === 0) return { decision: undefined, stale: new Set() };
  const { id } = project.append(record(files));
  const isStale = ({ path }: KeptFile) => project.files.get(path)?.isStale(id) ?? false;
  const stale = files.filter(isStale);
  if (stale.length === 0) return { decision: id, stale: new Set() };
  project.append({ type: "back", decision: id });
  const rest = files.filter((file) => !stale.includes(file));
  const again = decided(project, rest, record);
  return { ...again, stale: new Set([...stale.map(({ path }) => path), ...again.stale]) };
}

function keptFile(project: ReviewedProject, entry: Entry, what: Selection, scope: Scope): KeptFile {
  const { file, view } = entry;
  return {
    path: file.path,
    text: view ? project.contents.put(view.lines) : { withheld: "unknown" },
    base: view && hashOfLines(view.weave.base(scope)),
    keep: seenOf(project, entry, what) as KeptFile["keep"],
  };
}

/**
 * Limits "all" to the hunks that a buffer shows, if the buffer differs from the disk: Claude may have written to the file
 * since.
 */
function seenOf(
  project: ReviewedProject,
  { file, view, hunks }: Entry,
  what: Selection,
): Selection {
  const onDisk = project.view(file);
  if (what !== "all" || !view || !onDisk || sameLines(view.lines, onDisk.lines)) return what;
  return { ...rowsOf(hunks), file: true };
}

/** The changes to decide in a request's file. */
export interface Found {
  entry: Entry;
  /** Two for a moved file. */
  files: Entry[];
  what: Selection;
}

/** Finds each file once, because a request may have both paths of a moved file. */
export function findAll(
  project: ReviewedProject,
  targets: readonly Target[],
  scope: Scope,
): { target: Target; found: Found | { problem: string } }[] {
  const taken = new Set<TrackedFile>();
  let names: ReadonlyMap<TrackedFile, Entry> | undefined;
  return targets.map((target) => {
    const found = find(project, target, scope);
    if ("problem" in found) return { target, found };
    const { entry, what } = found;
    if (what === "all" && MOVED.has(entry.kind)) names ??= otherNames(project, targets, scope);
    const other = what === "all" ? names?.get(entry.file) : undefined;
    const files = [entry, ...(other ? [other] : [])].filter(({ file }) => !taken.has(file));
    for (const { file } of files) taken.add(file);
    return { target, found: { ...found, files } };
  });
}

const MOVED: ReadonlySet<Kind> = new Set(["created", "deleted"]);

function find(
  project: ReviewedProject,
  target: Target,
  scope: Scope,
): Omit<Found, "files"> | { problem: string } {
  const file = project.files.get(target.path);
  const entry = file && entryOf(project, file, scope, target.text);
  if (!file || !entry) {
    const problem = file && project.problem(file);
    return { problem: `${target.path} ${problem ?? "has nothing to review there"}` };
  }
  const what = selectionOf(target.range ? entry : asListed(project, entry, scope), target);
  if (what !== undefined) return { entry, what };
  return { problem: `${target.path} ${target.range ? NOT_THERE : CHANGED}` };
}

/** The other path of each moved file: that of the deleted or of the created file. Both are decided together. */
function otherNames(
  project: ReviewedProject,
  targets: readonly Target[],
  scope: Scope,
): ReadonlyMap<TrackedFile, Entry> {
  const texts = new Map(targets.map(({ path, text }) => [path, text]));
  const entries = [...project.files.values()].flatMap((file) => {
    return entryOf(project, file, scope, texts.get(file.path)) ?? [];
  });
  const pairs = [...movesIn(entries, scope)].flatMap(([moved, origin]) => [
    [moved.file, origin] as const,
    [origin.file, moved] as const,
  ]);
  return new Map(pairs);
}

/** The chosen rows of an entry; undefined if one of the hunks has changed since it was shown. */
function selectionOf(entry: Entry, { hunks, range }: Target): Selection | undefined {
  // A file without hunks is decided as a whole.
  if (range && entry.hunks.length > 0) return selectRange(entry, range);
  if (!hunks || hunks.includes("file")) return "all";
  const ids = hunks.filter((id) => id !== "mode");
  const found = ids.map((id) => entry.hunks.find((hunk) => hunk.id === id));
  if (!found.every((hunk) => hunk !== undefined)) return undefined;
  if (ids.length === hunks.length) return selectHunks(entry, found);
  // A file that is decided as a whole is decided with its mode.
  if (entry.kind !== "changed") return "all";
  const mode = modeOf(entry) !== undefined;
  return mode ? { ...rowsOf(found), mode } : undefined;
}

/** All hunks of a created or deleted file mean the file itself. */
function selectHunks(entry: Entry, hunks: readonly Hunk[]): Selection {
  const isWhole = hunks.length === entry.hunks.length && entry.kind !== "changed";
  return isWhole ? "all" : rowsOf(hunks);
}

export function rowsOf(hunks: readonly Hunk[]): { old: Rows[]; new: Rows[] } {
  return { old: hunks.map((hunk) => hunk.old), new: hunks.map((hunk) => hunk.new) };
}

/** The rows of a range, with the deleted rows beside them. */
function selectRange(
  entry: Entry,
  [first, last]: readonly [number, number],
): Selection | undefined {
  const parts = entry.hunks.flatMap((hunk) => partOf(hunk, first, last) ?? []);
  if (parts.length === 0) return undefined;
  const whole = parts.every((part) => part.whole) ? parts.map((part) => part.hunk) : undefined;
  if (whole) return selectHunks(entry, whole);
  return { old: parts.map((part) => part.old), new: parts.map((part) => part.new) };
}

interface Part {
  hunk: Hunk;
  whole: boolean;
  old: Rows;
  new: Rows;
}

/** Old rows are beside new ones, row by row. Further old rows are beside the last new one. */
function partOf(hunk: Hunk, first: number, last: number): Part | undefined {
  const [oldFirst, oldCount] = hunk.old;
  const [newFirst, newCount] = hunk.new;
  const whole: Part = { hunk, whole: true, old: hunk.old, new: hunk.new };
  if (newCount === 0) {
    // Neovim draws deleted rows at the row below them, or at the last row.
    const isInside = first <= Math.max(newFirst, 1) && last >= newFirst;
    return isInside || first === newFirst + 1 ? whole : undefined;
  }
  const from = Math.max(first, newFirst) - newFirst;
  const to = Math.min(last, newFirst + newCount - 1) - newFirst;
  if (from > to) return undefined;
  if (from === 0 && to === newCount - 1) return whole;
  const oldEnd = to === newCount - 1 ? oldCount : Math.min(to + 1, oldCount);
  const oldFrom = Math.min(from, oldCount);
  return {
    hunk,
    whole: false,
    old: [oldFirst + oldFrom, Math.max(0, oldEnd - oldFrom)],
    new: [newFirst + from, to - from + 1],
  };
}
