import type { RecordedScope, RecordOf } from "../journal/record";
import { type Entry, entryOf, modeOf } from "../state/entry";
import type { ReviewedProject, View } from "../state/reviewed-project";
import { scopeOf } from "../state/scope";
import type { TrackedFile } from "../state/tracked-file";
import { type Selection, undone } from "../weave/decision";
import type { Hunk, Later, Rows } from "../weave/hunks";
import { sameLines } from "../weave/lines";
import { type AppliedFile, applyAll, type FileTarget, recordWritten } from "./apply";
import { changeIndex, type IndexPlan, plannedIndex } from "./index-entries";
import { type Found, findAll, seenOf, type Target } from "./keep";
import { rowsOf } from "./selection";

/** A sentence's end for the user. */
const KEPT = "was not undone, because you have kept it in the meantime";
const GONE = "was not undone, because nothing of it is left";

const EDITED =
  "was not undone, because you have edited it since Claude moved it; :Claude undo! brings the old file back and keeps your lines in the new one";

/** Rows that Claude has changed, and somebody since: three texts, among which the user decides. */
export interface Conflict {
  hunk: string;
  by: Later;
  /** Without Claude's change. */
  base: readonly string[];
  claude: readonly string[];
  now: readonly string[];
}

export interface UndoneFile extends AppliedFile {
  /** Nothing of these was undone. */
  conflicts?: Conflict[];
  /** git's index still holds something of Claude's. */
  staged?: boolean;
}

export interface Undone {
  /** Undefined if nothing was undone. */
  decision: string | undefined;
  /** It waits for the end of the turn. */
  queued?: boolean;
  files: UndoneFile[];
}

export interface UndoOptions {
  scope?: RecordedScope | undefined;
  /** Queue it if Claude works on what it would undo. */
  waits: boolean;
  /** Undo conflicts, too: the later rows stay beside the base's. */
  keepsBoth?: boolean;
}

interface Plan extends FileTarget {
  entry: Entry;
  view: View;
  what: Selection;
  conflicts: Conflict[];
}

/**
 * Undoes what was chosen, as one decision: the journal first, then the disk, or edits for buffers.
 * Throws the system's error where it cannot be recorded.
 */
export async function undo(
  project: ReviewedProject,
  targets: readonly Target[],
  options: UndoOptions,
): Promise<Undone> {
  const { plans, outcomes, version } = planned(project, targets, options);
  if (plans.length === 0) return { decision: undefined, files: outcomes };
  const waitsFor = options.waits ? workingSession(project, plans) : undefined;
  if (waitsFor !== undefined) return queue(project, plans, waitsFor, options, outcomes);
  const index = await plannedIndex(project, plans);
  // A hook has recorded a change in between: what was planned was about another text.
  if (project.version !== version) return undo(project, targets, options);
  return carryOut(project, plans, outcomes, { scope: options.scope, index });
}

function planned(
  project: ReviewedProject,
  targets: readonly Target[],
  options: UndoOptions,
): { plans: Plan[]; outcomes: UndoneFile[]; version: number } {
  const scope = scopeOf(options.scope);
  const texts = new Map(targets.map(({ path, text }) => [path, text]));
  const plans: Plan[] = [];
  const outcomes = findAll(project, targets, scope).map(({ target, found }): UndoneFile => {
    if ("problem" in found) return { path: target.path, problem: found.problem };
    const made = plansFor(found, texts, options);
    if (typeof made === "string") return { path: target.path, problem: `${target.path} ${made}` };
    plans.push(...made);
    const conflicts = made.flatMap((plan) => plan.conflicts);
    return { path: target.path, ...(conflicts.length > 0 && { conflicts }) };
  });
  const effective = plans.filter(({ what }) => what === "all" || !isEmpty(what));
  return { plans: effective, outcomes, version: project.version };
}

/** Carries out an undo that was queued; `texts` are those of buffers, by path. */
export async function undoQueued(
  project: ReviewedProject,
  id: string,
  texts: ReadonlyMap<string, Uint8Array>,
): Promise<Undone> {
  const record = project.decision(id);
  if (record?.type !== "queue") return { decision: undefined, files: [] };
  const outcomes: UndoneFile[] = [];
  const plans = record.files.flatMap(({ path }): Plan[] => {
    const text = texts.get(path);
    const file = project.files.get(path);
    const entry = file && entryOf(project, file, scopeOf(record.scope), text);
    const plan = entry && planFor(entry, { queued: id }, record.scope, text !== undefined);
    const isEffective = plan && (plan.mode ?? !sameLines(plan.target, plan.view.lines));
    const problem = file && (project.problem(file) ?? whyNot(file, id));
    outcomes.push({ path, ...(!isEffective && problem && { problem: `${path} ${problem}` }) });
    return isEffective ? [plan] : [];
  });
  const { version } = project;
  const index = await plannedIndex(project, plans);
  if (project.version !== version) return undoQueued(project, id, texts);
  return carryOut(project, plans, outcomes, { scope: record.scope, queued: id, index });
}

/** Why nothing is undone, unless all of it was to be undone by another decision. */
function whyNot({ weave, marks }: TrackedFile, queue: string): string | undefined {
  const all = [...marks, ...(weave?.rows ?? []).flatMap((row) => [row.inserted, row.deleted])];
  const waiting = all.filter((mark) => mark?.queue === queue);
  if (waiting.some((mark) => mark?.keep !== undefined)) return KEPT;
  return waiting.length > 0 ? GONE : undefined;
}

function plansFor(
  { entry, files, what }: Found,
  texts: ReadonlyMap<string, Uint8Array | undefined>,
  options: UndoOptions,
): Plan[] | string {
  const reason = files.map(({ cannotUndo }) => cannotUndo).find(Boolean);
  if (reason !== undefined && what === "all") return `cannot be undone here: it ${reason}`;
  const inConflict = options.keepsBoth ? [] : entry.hunks.filter((hunk) => isIn(hunk, what));
  const conflicts = inConflict.flatMap(conflictOf);
  const rest = conflicts.length > 0 ? without(entry, what, inConflict) : what;
  const plans: Plan[] = [];
  for (const file of files) {
    const inBuffer = texts.get(file.file.path) !== undefined;
    const plan = planFor(file, file === entry ? rest : what, options.scope, inBuffer);
    if (!plan) return "cannot be undone here: its old content was not kept";
    const isLink = file.file.symlink && plan.target.length > 0;
    if (isLink) return "is a symlink: undo its change with git or by hand";
    plans.push(file === entry ? { ...plan, conflicts } : plan);
  }
  // The old file would come back without what the user has written under the new name.
  const isEdited = plans.some(({ entry, target }) => entry.kind === "created" && target.length > 0);
  return isEdited && plans.length > 1 && !options.keepsBoth ? EDITED : plans;
}

function planFor(
  entry: Entry,
  what: Selection,
  recorded: RecordedScope | undefined,
  inBuffer: boolean,
): Plan | undefined {
  const { view } = entry;
  if (!view) return undefined;
  const target = undone(view.weave, "planned", what, scopeOf(recorded)).lines;
  const mode = modeBefore(entry, what);
  return { file: entry.file, entry, view, what, target, inBuffer, mode, conflicts: [] };
}

function isIn(hunk: Hunk, what: Selection): boolean {
  if (!hunk.conflict) return false;
  if (what === "all") return true;
  if ("queued" in what) return hunk.queued === what.queued;
  return overlaps(what.old, hunk.old) || overlaps(what.new, hunk.new);
}

/** A part of a hunk, as one chooses it by a range, is of other rows than the hunk. */
function overlaps(chosen: readonly Rows[], [first, count]: Rows): boolean {
  return chosen.some(([start, length]) => start < first + count && first < start + length);
}

function conflictOf({ id, conflict, oldLines, claudeLines, newLines }: Hunk): Conflict[] {
  if (!conflict) return [];
  return [{ hunk: id, by: conflict, base: oldLines, claude: claudeLines, now: newLines }];
}

/** What is left of a selection without some hunks. */
function without(entry: Entry, what: Selection, hunks: readonly Hunk[]): Selection {
  if (what === "all") {
    const rows = rowsOf(entry.hunks.filter((hunk) => !hunks.includes(hunk)));
    return modeOf(entry) ? { ...rows, mode: true } : rows;
  }
  if ("queued" in what) return what;
  return {
    ...what,
    old: what.old.filter((rows) => !hunks.some((hunk) => overlaps([rows], hunk.old))),
    new: what.new.filter((rows) => !hunks.some((hunk) => overlaps([rows], hunk.new))),
  };
}

function isEmpty(what: Selection): boolean {
  if (what === "all" || "queued" in what || what.mode) return false;
  return [...what.old, ...what.new].every(([, count]) => count === 0);
}

/** A session of these changes whose turn has not ended. */
function workingSession(project: ReviewedProject, plans: readonly Plan[]): string | undefined {
  const sessions = plans.flatMap(({ entry }) => entry.owners.map(({ session }) => session));
  return sessions.find((session) => project.isWorking(session));
}

function queue(
  project: ReviewedProject,
  plans: readonly Plan[],
  session: string,
  { scope }: UndoOptions,
  outcomes: UndoneFile[],
): Undone {
  const files = plans.map(({ entry, view, what }) => ({
    path: entry.file.path,
    text: project.contents.put(view.lines),
    undo: seenOf(project, entry, what) as RecordOf<"queue">["files"][number]["undo"],
  }));
  const record = project.append({ type: "queue", session, files, scope });
  return { decision: record.id, queued: true, files: outcomes };
}

interface Carried {
  scope: RecordedScope | undefined;
  queued?: string;
  index: IndexPlan;
}

async function carryOut(
  project: ReviewedProject,
  plans: readonly Plan[],
  outcomes: UndoneFile[],
  { scope, queued, index: { changes, left } }: Carried,
): Promise<Undone> {
  const files = plans.map(({ entry, view, what, target, mode }) => ({
    path: entry.file.path,
    before: project.contents.put(view.lines),
    after: project.contents.put(target),
    undo: what as RecordOf<"undo">["files"][number]["undo"],
    mode: (target.length === 0 || mode) && view.mode ? view.mode & 0o777 : undefined,
    index: changes.get(entry.file.path) as [string, string] | undefined,
  }));
  const record = project.append({ type: "undo", files, scope, queued });
  const applied = applyAll(project, plans);
  recordWritten(project, plans, applied);
  const done = applied.filter(({ problem }) => problem === undefined).map(({ path }) => path);
  const entries = done.flatMap((path) => {
    const change = changes.get(path);
    return change ? [[path, change[1]] as const] : [];
  });
  const isChanged = await changeIndex(project, new Map(entries));
  const isLeft = (path: string) => left.has(path) || (!isChanged && changes.has(path));
  const results = applied.map((one) => (isLeft(one.path) ? { ...one, staged: true } : one));
  return { decision: record.id, files: merged(outcomes, results) };
}

/** The permission bits that the file is to get. */
function modeBefore(entry: Entry, what: Selection): number | undefined {
  const marks = entry.marks.filter(({ queue }) => {
    if (what === "all") return true;
    return "queued" in what ? queue === what.queued : what.mode;
  });
  return modeOf({ marks, view: entry.view })?.before;
}

/** One outcome for each path, with what became of it. */
function merged(outcomes: readonly UndoneFile[], results: readonly UndoneFile[]): UndoneFile[] {
  const byPath = new Map(outcomes.map((outcome) => [outcome.path, outcome]));
  for (const result of results) {
    byPath.set(result.path, { ...byPath.get(result.path), ...result });
  }
  return [...byPath.values()];
}
