import type { Rows } from "./hunks";
import { FILE } from "./lines";
import {
  deletionBefore,
  inBase,
  isPending,
  isUnsettled,
  type Mark,
  type Row,
  type Scope,
} from "./row";
import type { Weave } from "./weave";

/** The subject of a decision: all pending changes of the scope, or rows of the base text and of the current text. */
export type Selection =
  | "all"
  /** `file` includes the creation or deletion of the file, and its mode; `mode` includes the mode. */
  | {
      old: readonly Rows[];
      new: readonly Rows[];
      file?: boolean | undefined;
      mode?: boolean | undefined;
    };

/** Marks the selection as kept by the decision `id`. Text that was undone, and that has come back, is no longer undone. */
export function kept(weave: Weave, id: string, what: Selection, scope: Scope): Weave {
  const as = { keep: id, undo: undefined };
  const selected = selector(what, scope);
  return weave.with((row) => {
    const { inserted, deleted, revived } = selected(row);
    if (!inserted && !deleted && !revived) return row;
    return decided(row, id, (row) => ({
      ...row,
      ...(revived && { revivals: revivalsAs(row, scope, as) }),
      ...(inserted && { inserted: { ...row.inserted, ...as } }),
      ...(deleted && { deleted: { ...(row.deleted as Mark), ...as } }),
    }));
  });
}

/**
 * Makes undone text the user's, unless the decision is taken back. Returns the same weave if nothing was undone since it
 * was last settled.
 */
export function settled(weave: Weave): Weave {
  if (!weave.rows.some(isUnsettled)) return weave;
  return weave.with((row) => {
    if (!isUnsettled(row)) return row;
    if (!row.present) return { ...row, inserted: { ...row.inserted, settled: true } };
    return { ...row, deleted: { ...(row.deleted as Mark), settled: true } };
  });
}

function revivalsAs({ revivals }: Row, scope: Scope, as: Partial<Mark>): Row["revivals"] {
  const changed = (mark: Mark) => (isPending(mark, scope) ? { ...mark, ...as } : mark);
  return revivals?.map(({ deleted, inserted }) => {
    return { deleted: changed(deleted), inserted: changed(inserted) };
  });
}

/**
 * Undoes the selection: removes rows that Claude inserted, and restores rows that it deleted. A row that another session
 * has deleted since stays deleted, even when that deletion is undone.
 */
export function undone(weave: Weave, id: string, what: Selection, scope: Scope): Weave {
  const selected = selector(what, scope);
  const step = weave.step + 1;
  const result = weave.with((row) => {
    const { inserted, deleted, revived } = selected(row);
    if (deleted && inBase(row, scope)) return decided(row, id, (row) => restored(row, id));
    if (inserted) return decided(row, id, (row) => removed(row, id, step));
    return revived ? decided(row, id, (row) => deletedAgain(row, id, scope)) : row;
  });
  const hasLines = result.rows.some(({ line, present }) => present && line !== FILE);
  return hasLines ? withFile(result, id) : result;
}

function removed(row: Row, id: string, step: number): Row {
  const inserted = { ...row.inserted, undo: id };
  if (!row.present) return { ...row, inserted };
  return { ...row, inserted, present: false, deleted: { by: "user", step, undo: id } };
}

/** The row as Claude's earlier deletion had left it. */
function deletedAgain(row: Row, id: string, scope: Scope): Row {
  const deleted = deletionBefore(row, scope);
  if (!row.present || !deleted) return row;
  return { ...row, present: false, deleted, revivals: revivalsAs(row, scope, { undo: id }) };
}

/** Restores the file itself, because it has lines. With the user's lines in it, the file becomes the user's. */
function withFile(weave: Weave, id: string): Weave {
  const files = weave.rows.filter(({ line }) => line === FILE);
  const last = files.at(-1);
  if (!last || files.some(({ present }) => present)) return weave;
  const file = decided(last, id, (row) => {
    const { deleted, ...rest } = row;
    const isRemovedNow = deleted?.by === "user" && deleted.undo === id;
    const isDeletedAgain = row.revivals?.at(-1)?.inserted.undo === id;
    const isThere = isRemovedNow ? rest : isDeletedAgain ? row : restored(row, id);
    return { ...isThere, present: true, inserted: { keep: id, ...without(row.inserted, id) } };
  });
  return weave.with((row) => (row === last ? file : row));
}

function restored(row: Row, id: string): Row {
  return { ...row, present: true, deleted: { ...(row.deleted as Mark), undo: id } };
}

function decided(before: Row, id: string, change: (row: Row) => Row): Row {
  return { ...change(before), decided: { id, before, change } };
}

/** Takes a decision back, whatever was decided since: its marks, and the rows that it removed or restored. */
export function takenBack(weave: Weave, id: string): Weave {
  return weave.with((row) => rowWithout(row, id));
}

function rowWithout(row: Row, id: string): Row {
  if (!row.decided) return unmarked(row, id);
  const { id: last, before, change } = row.decided;
  const rest = rowWithout(before, id);
  const after = change(before);
  if (last === id) {
    // The user may have removed or restored a row whose presence was not decided.
    return after.present === before.present ? { ...rest, present: row.present } : rest;
  }
  if (rest === before) return row;
  const again = decided(rest, last, change);
  return after.present === row.present ? again : { ...again, present: row.present };
}

/** Someone has deleted or revived the row since the decision. */
function unmarked(row: Row, id: string): Row {
  const { inserted, deleted, revivals = [] } = row;
  const marks = [inserted, deleted, ...revivals.flatMap((one) => [one.deleted, one.inserted])];
  if (!marks.some((mark) => isOf(mark, id))) return row;
  return {
    ...row,
    inserted: without(inserted, id),
    ...(deleted && { deleted: without(deleted, id) }),
    ...(revivals.length > 0 && {
      revivals: revivals.map((one) => {
        return { deleted: without(one.deleted, id), inserted: without(one.inserted, id) };
      }),
    }),
  };
}

function isOf(mark: Mark | undefined, id: string): boolean {
  return mark !== undefined && [mark.keep, mark.undo].includes(id);
}

/** Removes a decision from a mark. */
export function without<M extends Mark>(
  mark: M,
  id: string,
): Omit<M, "keep" | "undo" | "settled"> & Mark {
  const { keep, undo, settled, ...rest } = mark;
  return {
    ...rest,
    ...(settled && undo !== id && { settled }),
    ...(keep !== undefined && keep !== id && { keep }),
    ...(undo !== undefined && undo !== id && { undo }),
  };
}

/** Whether the marks of a row are selected. */
interface Selected {
  inserted: boolean;
  deleted: boolean;
  revived?: boolean | undefined;
}

/** The returned function must get the rows in order. */
function selector(what: Selection, scope: Scope): (row: Row) => Selected {
  if (what === "all") return (row) => pendingMarks(row, scope);
  const isOld = within(what.old);
  const isNew = within(what.new);
  let [old, now] = [0, 0];
  return (row) => {
    const isInBase = inBase(row, scope);
    if (row.line === FILE && isInBase !== row.present && what.file) return pendingMarks(row, scope);
    if (row.line === FILE || isInBase === row.present) {
      if (row.line !== FILE && row.present) [old, now] = [old + 1, now + 1];
      return { inserted: false, deleted: false };
    }
    if (row.present) {
      const isChosen = isNew(++now);
      const inserted = isChosen && isPending(row.inserted, scope);
      return { inserted, deleted: false, revived: isChosen && !inserted };
    }
    return { inserted: false, deleted: isOld(++old) };
  };
}

/** Absent text that was undone needs no decision. */
function pendingMarks(row: Row, scope: Scope): Selected {
  const isUndone = !row.present && row.inserted.undo !== undefined;
  return {
    inserted: !isUndone && isPending(row.inserted, scope),
    deleted: !row.present && isPending(row.deleted, scope),
    revived: row.revivals !== undefined,
  };
}

function within(ranges: readonly Rows[]): (row: number) => boolean {
  return (row) => ranges.some(([first, count]) => row >= first && row < first + count);
}
