/** The tool call that made changes, as hunks and scopes need it. */
export interface Change {
  /** The id of its journal record. */
  id: string;
  session: string;
  prompt?: string | undefined;
  /** The number of its turn in the session, from 1; 0 before the journal's first prompt. */
  turn?: number | undefined;
  agent?: string | undefined;
  tool: string;
  command?: string | undefined;
  /** ms since the epoch. */
  at: number;
  /** When the call or its turn began, if known. */
  since?: number | undefined;
}

/** "original" means that the line existed when the file was first recorded. */
export type Author = "original" | "user" | Change;

/** The author of a row's insertion or deletion. */
export interface Mark {
  readonly by: Author;
  /** Steps are numbered in ascending order. */
  readonly step: number;
  /** The decision by which the user kept the change. */
  readonly keep?: string | undefined;
  /** The decision by which the user undid the change. */
  readonly undo?: string | undefined;
  /** The undo was applied on disk, so later changes of the line are the user's. */
  readonly settled?: boolean | undefined;
  /** The step in which the user deleted the whole file. Claude's deletion of this row is then no longer pending. */
  readonly gone?: number | undefined;
}

/** Claude deleted a row in one turn, and inserted the same line there in a later turn. */
export interface Revival {
  readonly deleted: Mark;
  readonly inserted: Mark;
}

/** A decision about a row. */
interface Decided {
  readonly id: string;
  /** The row as it was before. */
  readonly before: Row;
  readonly change: (row: Row) => Row;
}

/** A line that is in the file, or once was. Rows are immutable. */
export interface Row {
  /** The same in every process that reads the same journal. */
  readonly id: number;
  readonly line: string;
  readonly inserted: Mark;
  /** The last deletion. A restored row keeps it. */
  readonly deleted?: Mark | undefined;
  /** In order. */
  readonly revivals?: readonly Revival[] | undefined;
  readonly present: boolean;
  /** The last decision about the row, if its deletion and its revivals are still as it left them. */
  readonly decided?: Decided | undefined;
}

/** Selects which of Claude's changes count as pending: those of a turn, of a session, or all. */
export interface Scope {
  includes(change: Change): boolean;
  /** Includes changes that the user has kept. */
  withKept?: boolean;
}

export const ALL: Scope = { includes: () => true };

export function isClaude(by: Author): by is Change {
  return typeof by === "object";
}

/** Whether the mark is Claude's, within the scope, and still waits for a decision. */
export function isPending(mark: Mark | undefined, scope: Scope): boolean {
  if (!mark || mark.gone || !isClaude(mark.by) || !scope.includes(mark.by)) return false;
  return mark.keep === undefined || scope.withKept === true;
}

/** Whether the row is in the state in which an unsettled undo left it. */
export function isUnsettled({ inserted, deleted, present }: Row): boolean {
  const mark = present ? deleted : inserted;
  return mark?.undo !== undefined && isClaude(mark.by) && !mark.settled;
}

/**
 * Whether the row is in the base text: the file without the scope's changes. An absent row that was undone is not, even
 * if another session deleted it.
 */
export function inBase(row: Row, scope: Scope): boolean {
  const { inserted, deleted, present } = row;
  if (isPending(inserted, scope) || deletionBefore(row, scope)) return false;
  if (present) return true;
  return inserted.undo === undefined && isPending(deleted, scope);
}

/** The deletion of the row that counts without the scope's changes, if only they revived the row. */
export function deletionBefore({ revivals }: Row, scope: Scope): Mark | undefined {
  let before: Mark | undefined;
  for (const { deleted, inserted } of revivals ?? []) {
    if (!isPending(deleted, scope)) before = deleted;
    if (!isPending(inserted, scope)) before = undefined;
  }
  return before;
}

/** The mark by which a row differs from the base text, or was overwritten. */
export function markOf(row: Row, scope: Scope): Mark {
  if (!row.present) return row.deleted as Mark;
  const revival = row.revivals?.findLast(({ inserted }) => isPending(inserted, scope));
  return isPending(row.inserted, scope) ? row.inserted : (revival?.inserted ?? row.inserted);
}
