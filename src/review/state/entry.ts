import type { Waits } from "../journal/prune";
import { compare } from "../weave/compare";
import { type Hunk, hunksOf, ownersOf, type Rows } from "../weave/hunks";
import { FILE, isOpaque, isText, type Lines } from "../weave/lines";
import { ALL, type Change, inBase, isPending, markOf, type Row, type Scope } from "../weave/row";
import { ReviewedProject, type View } from "./reviewed-project";
import type { FileMark, TrackedFile } from "./tracked-file";

/** How the file as a whole changed. "unseen" means that we know only that it changed. */
export type Kind =
  | "changed"
  | "created"
  | "deleted"
  | "renamed"
  | "binary"
  | "mode"
  | "symlink"
  | "unseen";

export interface Entry {
  file: TrackedFile;
  view: View | undefined;
  kind: Kind;
  /** The earlier path of a renamed file. */
  from?: TrackedFile | undefined;
  /** Whether a renamed file has the same text as at its earlier path. */
  isSameText?: boolean | undefined;
  /** Empty for a binary file. */
  hunks: readonly Hunk[];
  /** Pending changes of the mode, and pending changes whose text we do not know. */
  marks: readonly FileMark[];
  owners: readonly Change[];
  /** Why the file as a whole cannot be undone. Completes "FILE …" in a message. */
  cannotUndo?: string | undefined;
}

const UNKNOWN = {
  private: "is private: its text was not stored",
  large: "is too large: its old text was not stored",
  unknown: "was changed where its old text is not known",
  mode: "",
  staged: "has not changed, but git's index has: git diff --cached shows it",
} as const;

const LOST = "was rewritten so often that lines of an earlier turn are forgotten";

/** Entries of all pending changes, by view. Each request needs them. */
const known = new WeakMap<View, Entry | null>();

/** The pending changes of a file, on disk or with a buffer's `text`; undefined if there are none. */
export function entryOf(
  project: ReviewedProject,
  file: TrackedFile,
  scope: Scope,
  text?: Uint8Array,
): Entry | undefined {
  const view = project.view(file, text);
  if (!view || scope !== ALL) return made(file, view, scope);
  if (!known.has(view)) known.set(view, made(file, view, scope) ?? null);
  return known.get(view) ?? undefined;
}

function made(file: TrackedFile, view: View | undefined, scope: Scope): Entry | undefined {
  const marks = openMarks(file, view, scope);
  const all = view?.weave.rows.filter((row) => inBase(row, scope) !== row.present) ?? [];
  // If one session deleted the file and another wrote it again, it existed before and exists now.
  const files = view?.weave.rows.filter(({ line }) => line === FILE) ?? [];
  const isReplaced =
    files.some(({ present }) => present) && files.some((row) => inBase(row, scope));
  const rows = isReplaced ? all.filter(({ line }) => line !== FILE) : all;
  if (rows.length === 0 && marks.length === 0) return undefined;
  const kind = kindOf(file, rows, marks, view, scope);
  const hunks = view && kind !== "binary" ? hunksOf(view.weave, scope) : [];
  const isMarked = marks.filter((mark) => mark.kind !== "staged" || rows.length === 0);
  const lost = view?.weave.lacksBase(scope) ? LOST : undefined;
  const cannotUndo = isMarked.map((mark) => UNKNOWN[mark.kind]).find(Boolean) ?? lost;
  const open = [...marks, ...rows.map((row) => markOf(row, scope))];
  return { file, view, kind, hunks, marks, owners: ownersOf(open), cannotUndo };
}

function openMarks(file: TrackedFile, view: View | undefined, scope: Scope): FileMark[] {
  const pending = file.marks.filter((mark) => isPending(mark, scope) && mark.undo === undefined);
  // If Claude created the file and removed it again, no mode is left to review.
  const isNowhere = view?.lines.length === 0 && view.weave.base(scope).length === 0;
  const modes = openModes(isNowhere ? [] : pending, view?.mode);
  const isUsers = ({ line, deleted }: Row) => line === FILE && deleted?.by === "user";
  const isUsersDeletion = isNowhere && view.weave.rows.some(isUsers);
  return pending.filter((mark) => (mark.kind === "mode" ? modes.has(mark) : !isUsersDeletion));
}

/** The changes that led to the mode on disk; empty if the mode was changed back. */
function openModes(marks: readonly FileMark[], mode = 0): Set<FileMark> {
  const open = new Set<FileMark>();
  let before = mode & 0o777;
  for (const mark of marks.toReversed()) {
    if (mark.kind !== "mode" || !mark.mode) continue;
    // If the file was deleted and created again, its mode comes from the creation.
    if (mark.mode[1] !== 0 && (mark.mode[1] & 0o777) !== before) break;
    open.add(mark);
    before = mark.mode[0] & 0o777;
  }
  return before === (mode & 0o777) ? new Set() : open;
}

/** Permission bits before and after Claude's changes of the mode, and these changes in order. */
export function modeOf({ marks, view }: Pick<Entry, "marks" | "view">) {
  const changes = marks.filter(({ kind }) => kind === "mode");
  const [before, after] = [changes[0]?.mode?.[0], changes.at(-1)?.mode?.[1]];
  if (before === undefined || after === undefined) return undefined;
  return { before, after: after || (view?.mode ?? 0) & 0o777, changes };
}

function kindOf(
  file: TrackedFile,
  rows: readonly Row[],
  marks: readonly FileMark[],
  view: View | undefined,
  scope: Scope,
): Kind {
  const existence = rows.find((row) => row.line === FILE);
  if (existence) return existence.present ? "created" : "deleted";
  // One session created the file and another deleted it, with the user's rows in it.
  const isThere = view?.weave.rows.some((row) => row.present);
  if (view && isThere !== view.weave.rows.some((row) => inBase(row, scope))) {
    return isThere ? "created" : "deleted";
  }
  if (file.symlink) return "symlink";
  if (rows.some((row) => isOpaque(row.line))) return "binary";
  if (rows.length > 0) return "changed";
  return marks.some((mark) => mark.kind === "mode") ? "mode" : "unseen";
}

/** Merges the two entries of each moved file: the deletion leaves the list. */
export function withRenames(entries: readonly Entry[], scope: Scope): Entry[] {
  const moved = movesIn(entries, scope);
  const origins = new Set(moved.values());
  return entries
    .filter((entry) => !origins.has(entry))
    .map((entry) => {
      const origin = moved.get(entry);
      return origin ? renamed(entry, origin, scope) : entry;
    });
}

/** The entry of a single file as the list shows it, if a record says that the file was moved. */
export function asListed(project: ReviewedProject, entry: Entry, scope: Scope): Entry {
  const from = entry.kind === "created" ? entry.file.from : undefined;
  const file = from === undefined ? undefined : project.files.get(from);
  const origin = file && entryOf(project, file, scope);
  return origin?.kind === "deleted" ? renamed(entry, origin, scope) : entry;
}

/** A created file as a renamed one. The user decides about it as a whole. */
function renamed(entry: Entry, origin: Entry, scope: Scope): Entry {
  const { view, hunks } = entry;
  const old = origin.view?.weave.base(scope);
  const text = view?.lines.join("");
  const isSameText = Boolean(text) && old?.join("") === text;
  const isEdited = view && old && isText(old) && !isSameText && hunks.length > 0;
  return {
    ...entry,
    kind: "renamed",
    from: origin.file,
    isSameText,
    hunks: isEdited ? movedHunk({ ...entry, view }, old, scope) : hunks,
  };
}

/**
 * Pairs each moved file with the deleted file that it was moved from. A file was moved if a record says so, or if it was
 * created with the text of a deleted file.
 */
export function movesIn(entries: readonly Entry[], scope: Scope): ReadonlyMap<Entry, Entry> {
  const moved = new Map<Entry, Entry>();
  const [created, gone] = (["created", "deleted"] as const).map((kind) =>
    entries.filter((entry) => entry.kind === kind),
  ) as [Entry[], Entry[]];
  if (created.length === 0 || gone.length === 0) return moved;
  const deleted = new Map(gone.map((entry) => [entry, entry.view?.weave.base(scope).join("")]));
  for (const entry of created) {
    const { file, view } = entry;
    const text = view?.lines.join("");
    const all = [...deleted];
    const named = all.find(([other]) => other.file.path === file.from);
    const [origin] = named ?? (text ? all.find(([, other]) => other === text) : undefined) ?? [];
    if (!origin) continue;
    moved.set(entry, origin);
    deleted.delete(origin);
  }
  return moved;
}

export interface Counts {
  files: number;
  /** Counts one for each file that is decided as a whole, and one for a mode beside hunks. */
  hunks: number;
  added: number;
  removed: number;
}

export function countsOf(entries: readonly Entry[]): Counts {
  const total = { files: entries.length, hunks: 0, added: 0, removed: 0 };
  for (const { kind, hunks, marks, view } of entries) {
    total.hunks += kind === "changed" ? hunks.length + (modeOf({ marks, view }) ? 1 : 0) : 1;
    for (const { added, removed } of hunks) {
      total.added += added;
      total.removed += removed;
    }
  }
  return total;
}

/**
 * Claude's changes of a moved file's text, as one hunk of all lines; empty if there are none. `origin` is the text at the
 * earlier path, without Claude's changes.
 */
function movedHunk(
  { view, hunks, owners }: Entry & { view: View },
  origin: Lines,
  scope: Scope,
): Hunk[] {
  const old = lastingLines(view.weave.rows, withoutFile(origin), scope);
  const now = withoutFile(view.lines);
  const changes = compare(old, now);
  if (changes.length === 0) return [];
  const sum = (count: (change: (typeof changes)[number]) => number) =>
    changes.reduce((all, change) => all + count(change), 0);
  return [
    {
      id: `moved-${Bun.hash([...old, "\0", ...now].join("")).toString(36)}`,
      old: rowsOf(old),
      new: rowsOf(now),
      oldLines: old,
      newLines: now,
      claudeLines: [],
      added: sum(({ newStart, newEnd }) => newEnd - newStart),
      removed: sum(({ oldStart, oldEnd }) => oldEnd - oldStart),
      owners,
      mixed: hunks.some(({ mixed }) => mixed),
      conflict: hunks.map(({ conflict }) => conflict).find(Boolean),
      isInParts: true,
    },
  ];
}

/**
 * A moved file's lines without Claude's edits. Lines that it has from the old file do not count as Claude's, and the
 * user's later edits stay.
 */
function lastingLines(rows: readonly Row[], old: Lines, scope: Scope): string[] {
  const created = rows.findLast((row) => row.line === FILE)?.inserted;
  const hasCome = ({ line, inserted }: Row) =>
    line !== FILE && inserted.by === created?.by && inserted.step === created.step;
  const come = rows.filter(hasCome).map(({ line }) => line);
  const gone = new Map<number, Lines>();
  const added = new Set<number>();
  for (const { oldStart, oldEnd, newStart, newEnd } of compare(old, come)) {
    gone.set(newStart, old.slice(oldStart, oldEnd));
    for (let i = newStart; i < newEnd; i++) added.add(i);
  }
  const lines: string[] = [];
  let at = 0;
  for (const row of rows) {
    const isOld = hasCome(row) && !added.has(at);
    const { undo } = row.inserted;
    if (hasCome(row)) lines.push(...(gone.get(at++) ?? []));
    const lasting: Row = isOld ? { ...row, inserted: { by: "original", step: 0, undo } } : row;
    if (row.line !== FILE && inBase(lasting, scope)) lines.push(row.line);
  }
  return [...lines, ...(gone.get(at) ?? [])];
}

function withoutFile(lines: Lines): Lines {
  return lines.filter((line) => line !== FILE);
}

function rowsOf({ length }: Lines): Rows {
  return [Math.min(length, 1), length];
}

/**
 * Returns whether files of a root's journal wait for a decision. Files that cannot be compared with the disk count as
 * waiting. Throws the system's error.
 */
export function waitingIn(root: string): Waits {
  const project = new ReviewedProject(root);
  project.refresh();
  return (path) => {
    const file = project.files.get(path);
    if (!file) return false;
    return project.problem(file) !== undefined || entryOf(project, file, ALL) !== undefined;
  };
}
