/** The changes of one tool call, as far as hunks and scopes need them. */
export interface Change {
  /** The id of its journal record. */
  id: string;
  session: string;
  prompt?: string | undefined;
  agent?: string | undefined;
  tool: string;
  command?: string | undefined;
  /** ms since the epoch. */
  at: number;
  /** When the call or its turn began, if known. */
  since?: number | undefined;
}

/** "original": it was there when the file was first recorded. */
export type Author = "original" | "user" | Change;

/** The author of a row's insertion or deletion. */
export interface Mark {
  readonly by: Author;
  /** The number of the step, which ascends. */
  readonly step: number;
  /** The decision by which the user has kept it. */
  readonly keep?: string | undefined;
  /** The decision by which the user has undone it. */
  readonly undo?: string | undefined;
  /** The file on disk has had the undo applied; what the user then does to the line is the user's own. */
  readonly settled?: boolean | undefined;
  /** The step in which the user deleted the whole file; Claude's deletion of this row no longer counts as pending. */
  readonly gone?: number | undefined;
}

/** A line that is in the file, or once was. Rows are never changed, only replaced. */
export interface Row {
  /** The same for the same journal, in every process. */
  readonly id: number;
  readonly line: string;
  readonly inserted: Mark;
  /** The last deletion; a row that was brought back keeps it. */
  readonly deleted?: Mark | undefined;
  readonly present: boolean;
}

/** Which of Claude's changes count as pending: a turn, a session, or all. */
export interface Scope {
  includes(change: Change): boolean;
  /** Includes changes that the user has kept. */
  withKept?: boolean;
}

export const ALL: Scope = { includes: () => true };

export function isClaude(by: Author): by is Change {
  return typeof by === "object";
}

/** Whether a change of Claude's within the scope still waits for a decision. */
export function isPending(mark: Mark | undefined, scope: Scope): boolean {
  if (!mark || mark.gone || !isClaude(mark.by) || !scope.includes(mark.by)) return false;
  return mark.keep === undefined || scope.withKept === true;
}

/** Whether the row is as an undo that is not settled has left it: present or gone. */
export function isUnsettled({ inserted, deleted, present }: Row): boolean {
  const mark = present ? deleted : inserted;
  return mark?.undo !== undefined && isClaude(mark.by) && !mark.settled;
}

/**
 * Whether the row is in the base text: the file without the scope's changes. A row that was undone and is absent
 * stays out, even when the deletion being undone now is another session's.
 */
export function inBase(row: Row, scope: Scope): boolean {
  const { inserted, deleted, present } = row;
  if (isPending(inserted, scope)) return false;
  if (present) return true;
  return inserted.undo === undefined && isPending(deleted, scope);
}
