import type { RecordedScope, UndoRecord } from "../journal/record";
import { type Entry, entryOf, modeOf } from "../state/entry";
import type { ReviewedProject, View } from "../state/reviewed-project";
import { scopeOf } from "../state/tracked-file";
import { type Selection, undone } from "../weave/decision";
import type { Hunk, Rows } from "../weave/hunks";
import type { Scope } from "../weave/row";
import { type AppliedFile, applyAll, type FileTarget, recordWritten, rowOf } from "./apply";
import { changeIndex, type IndexPlan, plannedIndex } from "./index-entries";
import { type Found, findAll, rowsOf, type Target } from "./keep";

/** Completes "FILE …" in a message. */
const EDITED =
  "was not undone, because you have edited it since Claude moved it; :Claude undo! brings the old file back and keeps your lines in the new one";

interface UndoneFile extends AppliedFile {
  /** These hunks were not undone. */
  conflicts?: Conflicts;
  /** Whether git's index still has changes by Claude. */
  staged?: boolean;
}

export interface Undone {
  /** Undefined if nothing was undone. */
  decision: string | undefined;
  /** Whether something has changed since the plan; nothing was undone then. */
  changed?: boolean;
  files: UndoneFile[];
}

interface UndoOptions {
  scope?: RecordedScope | undefined;
  /** Whether to undo conflicts as well. The later rows then stay beside those of the base text. */
  keepsBoth?: boolean;
  /** Whether to undo the whole scope. That includes files which its changes have left as they were. */
  isWhole?: boolean;
}

interface Plan extends FileTarget {
  entry: Entry;
  view: View;
  what: Selection;
  conflicts: Conflicts;
}

/**
 * Undoes the targets as one decision: writes the journal first, then the disk, or returns edits for buffers. Throws the
 * system's error if it cannot record the decision.
 */
export async function undo(
  project: ReviewedProject,
  targets: readonly Target[],
  options: UndoOptions,
): Promise<Undone> {
  const { plans, outcomes, version } = planned(project, targets, options);
  if (plans.length === 0) return { decision: undefined, files: outcomes };
  const index = await plannedIndex(project, plans);
  // If a hook has recorded a change since, plan again.
  if (project.version !== version) return undo(project, targets, options);
  return carryOut(project, plans, outcomes, options, index);
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
    if (!plan) return "cannot be undone here: its old content was not stored";
    const isLink = file.file.symlink && plan.target.length > 0;
    if (isLink) return "is a symlink: undo its change with git or by hand";
    plans.push(file === entry ? { ...plan, conflicts } : plan);
  }
  // The old file would come back without the user's edits of the new one.
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
  const mode = what === "all" || what.mode ? modeOf(entry)?.before : undefined;
  return { file: entry.file, entry, view, what, target, inBuffer, mode, conflicts: [] };
}

function isIn(hunk: Hunk, what: Selection): boolean {
  if (!hunk.conflict) return false;
  if (what === "all") return true;
  return overlaps(what.old, hunk.old) || overlaps(what.new, hunk.new);
}

/** A range may choose a part of a hunk, so compare rows. */
function overlaps(chosen: readonly Rows[], [first, count]: Rows): boolean {
  return chosen.some(([start, length]) => start < first + count && first < start + length);
}

/** The three texts of a conflict, among which the user decides. `base` is the text without Claude's change. */
function conflictOf({ id, conflict, oldLines, claudeLines, newLines }: Hunk) {
  if (!conflict) return [];
  const [base, claude, now] = [oldLines.map(rowOf), claudeLines.map(rowOf), newLines.map(rowOf)];
  return [{ hunk: id, by: conflict, base, claude, now }];
}
type Conflicts = ReturnType<typeof conflictOf>;

/** Removes hunks from a selection. */
function without(entry: Entry, what: Selection, hunks: readonly Hunk[]): Selection {
  if (what === "all") {
    const rows = rowsOf(entry.hunks.filter((hunk) => !hunks.includes(hunk)));
    return modeOf(entry) ? { ...rows, mode: true } : rows;
  }
  return {
    ...what,
    old: what.old.filter((rows) => !hunks.some((hunk) => overlaps([rows], hunk.old))),
    new: what.new.filter((rows) => !hunks.some((hunk) => overlaps([rows], hunk.new))),
  };
}

function isEmpty(what: Selection): boolean {
  if (what === "all" || what.mode) return false;
  return [...what.old, ...what.new].every(([, count]) => count === 0);
}

async function carryOut(
  project: ReviewedProject,
  plans: readonly Plan[],
  outcomes: UndoneFile[],
  { scope, isWhole }: UndoOptions,
  { changes, left }: IndexPlan,
): Promise<Undone> {
  const others = isWhole ? unchangedIn(project, scopeOf(scope)) : [];
  const files = plans.map(({ entry, view, what, target, mode }) => ({
    path: entry.file.path,
    before: project.contents.put(view.lines),
    after: project.contents.put(target),
    undo: what as UndoRecord["files"][number]["undo"],
    mode: (target.length === 0 || mode) && view.mode ? view.mode & 0o777 : undefined,
    index: changes.get(entry.file.path) as [string, string] | undefined,
  }));
  const all = [...files, ...others];
  const record = project.append({ type: scope?.turns ? "restore" : "undo", files: all, scope });
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

/** Files without pending changes in the scope, whose lines of the scope a later decision must not restore. */
function unchangedIn(project: ReviewedProject, scope: Scope): UndoRecord["files"] {
  return [...project.files.values()].flatMap((file) => {
    const view = project.view(file);
    if (!view || entryOf(project, file, scope)) return [];
    const { rows } = undone(view.weave, "planned", "all", scope);
    if (rows.every((row, i) => row === view.weave.rows[i])) return [];
    const text = project.contents.put(view.lines);
    return [{ path: file.path, before: text, after: text, undo: "all" }];
  });
}

function merged(outcomes: readonly UndoneFile[], results: readonly UndoneFile[]): UndoneFile[] {
  const byPath = new Map(outcomes.map((outcome) => [outcome.path, outcome]));
  for (const result of results) {
    byPath.set(result.path, { ...byPath.get(result.path), ...result });
  }
  return [...byPath.values()];
}
