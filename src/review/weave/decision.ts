import type { Rows } from "./hunks";
import { FILE } from "./lines";
import { inBase, isPending, type Mark, type Row, type Scope } from "./row";
import type { Weave } from "./weave";

/** What a decision is about: everything pending of the scope, or rows of base and present text. */
export type Selection = "all" | { old: readonly Rows[]; new: readonly Rows[] };

/** The selected marks count as kept, by the decision of that id. */
export function kept(weave: Weave, id: string, what: Selection, scope: Scope): Weave {
  const selected = selector(what, scope);
  return weave.with((row) => {
    const { inserted, deleted } = selected(row);
    if (!inserted && !deleted) return row;
    return {
      ...row,
      ...(inserted && { inserted: { ...row.inserted, keep: id } }),
      ...(deleted && { deleted: { ...(row.deleted as Mark), keep: id } }),
    };
  });
}

/**
 * The selected rows stand as they stood without Claude: what it inserted is gone, what it deleted is
 * back. A row that another session has deleted since stays away, also when that is undone.
 */
export function undone(weave: Weave, id: string, what: Selection, scope: Scope): Weave {
  const selected = selector(what, scope);
  const step = weave.step + 1;
  const result = weave.with((row) => {
    const { inserted, deleted } = selected(row);
    if (deleted && inBase(row, scope)) return restored(row, id);
    if (!inserted) return row;
    const undoneRow = { ...row, inserted: { ...row.inserted, undo: id } };
    if (!row.present) return undoneRow;
    return { ...undoneRow, present: false, deleted: { by: "user", step, undo: id } };
  });
  const hasLines = result.rows.some(({ line, present }) => present && line !== FILE);
  return hasLines ? withFile(result, id) : result;
}

/** A file that holds lines exists: with the user's lines in it, it is the user's from now on. */
function withFile(weave: Weave, id: string): Weave {
  const files = weave.rows.filter(({ line }) => line === FILE);
  const last = files.at(-1);
  if (!last || files.some(({ present }) => present)) return weave;
  const { deleted, ...rest } = last;
  const kept: Row = {
    ...rest,
    present: true,
    inserted: { ...without(last.inserted, id), keep: id },
  };
  const file = last.inserted.undo === id ? kept : restored(last, id);
  return weave.with((row) => (row === last ? file : row));
}

function restored(row: Row, id: string): Row {
  return { ...row, present: true, deleted: { ...(row.deleted as Mark), undo: id } };
}

/** Takes the decision of that id back: the marks, and the rows that it removed or brought back. */
export function takenBack(weave: Weave, id: string): Weave {
  return weave.with((row) => {
    const { inserted, deleted } = row;
    const isOurs = [inserted.keep, inserted.undo, deleted?.keep, deleted?.undo].includes(id);
    if (!isOurs) return row;
    const present = deleted?.undo === id ? deleted.by === "user" : row.present;
    return {
      ...row,
      present,
      inserted: without(inserted, id),
      ...(deleted && { deleted: without(deleted, id) }),
    };
  });
}

/** Does anything of the scope wait for a decision, the file's own creation or deletion included? */
export function hasPending(weave: Weave, scope: Scope): boolean {
  return weave.rows.some((row) => inBase(row, scope) !== row.present);
}

function without(mark: Mark, id: string): Mark {
  const { keep, undo, ...rest } = mark;
  return {
    ...rest,
    ...(keep !== undefined && keep !== id && { keep }),
    ...(undo !== undefined && undo !== id && { undo }),
  };
}

/** Which marks of a row are selected. Takes the rows in their order. */
function selector(what: Selection, scope: Scope) {
  const isOld = what === "all" ? () => true : within(what.old);
  const isNew = what === "all" ? () => true : within(what.new);
  let [old, now] = [0, 0];
  return (row: Row): { inserted: boolean; deleted: boolean } => {
    const isInBase = inBase(row, scope);
    if (row.line !== FILE) {
      if (isInBase) old++;
      if (row.present) now++;
    }
    if (what === "all") {
      const isUndone = !row.present && row.inserted.undo !== undefined;
      return {
        inserted: !isUndone && isPending(row.inserted, scope),
        deleted: !row.present && isPending(row.deleted, scope),
      };
    }
    if (row.line === FILE || isInBase === row.present) return { inserted: false, deleted: false };
    return { inserted: row.present && isNew(now), deleted: !row.present && isOld(old) };
  };
}

function within(ranges: readonly Rows[]): (row: number) => boolean {
  return (row) => ranges.some(([first, count]) => row >= first && row < first + count);
}
