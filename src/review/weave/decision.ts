import type { Rows } from "./hunks";
import { FILE } from "./lines";
import {
  deletionBefore,
  inBase,
  isClaude,
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
  return marked(weave, what, scope, { keep: id, undo: undefined });
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

function marked(weave: Weave, what: Selection, scope: Scope, as: Partial<Mark>): Weave {
  const selected = selector(what, scope);
  return weave.with((row) => {
    const { inserted, deleted, revived } = selected(row);
    if (!inserted && !deleted && !revived) return row;
    return {
      ...row,
      ...(revived && { revivals: revivalsAs(row, scope, as) }),
      ...(inserted && { inserted: { ...row.inserted, ...as } }),
      ...(deleted && { deleted: { ...(row.deleted as Mark), ...as } }),
    };
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
    if (deleted && inBase(row, scope)) return restored(row, id);
    if (!inserted && revived) return deletedAgain(row, id, scope);
    if (!inserted) return row;
    const undoneRow = { ...row, inserted: { ...row.inserted, undo: id } };
    if (!row.present) return undoneRow;
    return { ...undoneRow, present: false, deleted: { by: "user", step, undo: id } };
  });
  const hasLines = result.rows.some(({ line, present }) => present && line !== FILE);
  return hasLines ? withFile(result, id) : result;
}

/** The row as Claude's earlier deletion had left it. */
function deletedAgain(row: Row, id: string, scope: Scope): Row {
  const deleted = deletionBefore(row, scope);
  if (!row.present || !deleted) return row;
  return { ...row, present: false, deleted, revivals: revivalsAs(row, scope, { undo: id }) };
}

function isDeletedAgain({ revivals }: Row, id: string): boolean {
  return revivals?.at(-1)?.inserted.undo === id;
}

/** Restores the file itself, because it has lines. With the user's lines in it, the file becomes the user's. */
function withFile(weave: Weave, id: string): Weave {
  const files = weave.rows.filter(({ line }) => line === FILE);
  const last = files.at(-1);
  if (!last || files.some(({ present }) => present)) return weave;
  const { deleted, ...rest } = last;
  const isRemovedNow = deleted?.by === "user" && deleted.undo === id;
  const isThere = isDeletedAgain(last, id) ? last : restored(last, id);
  const inserted = { keep: id, ...without(last.inserted, id) };
  const file: Row = { ...(isRemovedNow ? rest : isThere), present: true, inserted };
  return weave.with((row) => (row === last ? file : row));
}

function restored(row: Row, id: string): Row {
  return { ...row, present: true, deleted: { ...(row.deleted as Mark), undo: id } };
}

/** Takes a decision back: its marks, and the rows that it removed or restored. */
export function takenBack(weave: Weave, id: string): Weave {
  return weave.with((row) => {
    const { inserted, deleted, revivals = [] } = row;
    const marks = [inserted, deleted, ...revivals.flatMap((one) => [one.deleted, one.inserted])];
    if (!marks.some((mark) => isOf(mark, id))) return row;
    // The row was neither changed nor decided about since.
    const isAgain =
      !row.present &&
      isDeletedAgain(row, id) &&
      revivals.some((one) => one.deleted.step === deleted?.step);
    const last = isAgain ? revivals.at(-1)?.deleted : deleted;
    // The decision removed rows that Claude had inserted, and restored the other rows and the file itself.
    const restored = deleted && (isClaude(deleted.by) || inserted.keep === id);
    const isOpen = deleted?.undo === id && (inserted.undo === id || restored);
    const present = isOpen ? inserted.undo === id : row.present;
    return {
      ...row,
      present: present || isAgain,
      inserted: without(inserted, id),
      ...(last && { deleted: without(last, id) }),
      ...(revivals.length > 0 && {
        revivals: revivals.map((one) => {
          return { deleted: without(one.deleted, id), inserted: without(one.inserted, id) };
        }),
      }),
    };
  });
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
