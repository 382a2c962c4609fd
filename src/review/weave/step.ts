import { compare, type Replacement, shifted } from "./compare";
import { FILE, type Lines, terminated } from "./lines";
import { isClaude, type Mark, type Row } from "./row";

/** Equal lines can make a change's place ambiguous. We try this many places. */
const MAX_PLACES = 200;
/** The limit of a full search for rows that come back: absent rows times inserted lines. */
const MAX_PAIRS = 250_000;

/**
 * Returns the rows after a step to `lines`. The mark becomes the deletion of missing rows and the insertion of new rows.
 * Rows that come back are revived, not added again: undo, /rewind and git checkout then need no further state, because
 * the text shows them.
 */
export function stepped(
  rows: readonly Row[],
  lines: Lines,
  mark: Mark,
  nextId: number,
): { rows: Row[]; nextId: number } {
  const places = indices(rows, (row) => row.present);
  const present = terminated(places.map((i) => (rows[i] as Row).line));
  const result: Row[] = [];
  let done = 0;
  let floor = -1;
  const changes = compare(present, lines);
  for (const [i, found] of changes.entries()) {
    const ceiling = changes[i + 1]?.oldStart ?? present.length + 1;
    const change = placed(found, { rows, places, present, lines, mark, floor, ceiling });
    floor = change.oldEnd;
    const start = change.oldStart === 0 ? 0 : (places[change.oldStart - 1] as number) + 1;
    const end = change.oldEnd === places.length ? rows.length : (places[change.oldEnd] as number);
    for (; done < start; done++) result.push(rows[done] as Row);
    const inserted = lines.slice(change.newStart, change.newEnd);
    nextId = replaceRegion(rows.slice(start, end), inserted, mark, nextId, result);
    done = end;
  }
  for (; done < rows.length; done++) result.push(rows[done] as Row);
  return { rows: mark.by === "user" ? goneWithFile(result, rows, mark) : result, nextId };
}

/**
 * When the user deletes a file, Claude's deletions in it are settled, even if the file is created again. They are pending
 * again when the user restores the text.
 */
function goneWithFile(rows: Row[], before: readonly Row[], mark: Mark): Row[] {
  const isDeleted = rows.some(({ line, deleted }) => line === FILE && deleted === mark);
  if (isDeleted && !rows.some(({ present }) => present)) {
    return rows.map((row) => {
      const { deleted } = row;
      if (!deleted || !isClaude(deleted.by)) return row;
      return { ...row, deleted: { ...deleted, gone: deleted.gone ?? mark.step } };
    });
  }
  if (!rows.some(({ deleted }) => deleted?.gone)) return rows;
  const absent = new Set(before.filter(({ present }) => !present).map(({ id }) => id));
  const isBack = ({ id, present }: Row) => present && absent.has(id);
  const back = new Set(rows.filter(isBack).map(({ deleted }) => deleted?.step));
  return rows.map((row) => {
    if (!row.deleted?.gone || !back.has(row.deleted.gone)) return row;
    return { ...row, deleted: { ...row.deleted, gone: undefined } };
  });
}

/**
 * Replaces the current rows of a region, which stay as deleted rows. Each new row follows the row that it replaces, so
 * that an undo of a part finds its place; further new rows follow at the end.
 */
function replaceRegion(
  region: readonly Row[],
  inserted: readonly string[],
  mark: Mark,
  nextId: number,
  result: Row[],
): number {
  const added = (line: string): Row => ({ id: nextId++, line, inserted: mark, present: true });
  const revived = revivals(region, inserted, mark);
  let taken = 0;
  const addUpTo = (end: number) => {
    for (; taken < end; taken++) result.push(added(inserted[taken] as string));
  };
  const revivedAt = [...revived.values()];
  const lastFile = region.findLastIndex(({ line }) => line === FILE);
  for (const [i, row] of region.entries()) {
    const at = revived.get(i);
    if (at !== undefined) {
      addUpTo(at);
      taken++;
      revivedAt.shift();
      result.push(withRevival(row, mark));
    } else if (row.present) {
      result.push(deleted(row, mark));
      addUpTo(Math.min(taken + 1, revivedAt[0] ?? inserted.length));
    } else {
      result.push(row);
      // Put the line of the new file before its earlier lines, because they may come back.
      if (i === lastFile && inserted[0] === FILE) addUpTo(Math.min(1, revivedAt[0] ?? 1));
    }
  }
  addUpTo(inserted.length);
  return nextId;
}

/** The revived row. If Claude deleted it in another turn, each of the two turns can be undone alone. */
function withRevival(row: Row, mark: Mark): Row {
  const { deleted, revivals = [] } = row;
  const isOfLater = isClaude(mark.by) && deleted && isClaude(deleted.by);
  if (!isOfLater || deleted.by.turn === mark.by.turn) return { ...row, present: true };
  const more = [...revivals, { deleted, inserted: mark }];
  return { ...row, present: true, revivals: more, decided: undefined };
}

/** If the user deletes a restored row that Claude had deleted, this repeats Claude's deletion: CTRL-R after `u`. */
function deleted(row: Row, mark: Mark): Row {
  if (mark.by === "user" && isPendingDeletion(row)) return { ...row, present: false };
  return { ...row, present: false, deleted: mark, decided: undefined };
}

function isPendingDeletion({ deleted }: Row): boolean {
  if (deleted === undefined || deleted.settled || deleted.gone) return false;
  return isClaude(deleted.by) && deleted.keep === undefined;
}

/**
 * Whether the row may be revived. The user can revive any row whose undo is not settled. Claude can revive only rows that
 * the same session deleted, if the user has not kept the deletion. Other lines that Claude writes again are new changes.
 */
function canRevive(row: Row, mark: Mark): boolean {
  if (row.present) return false;
  if (!isClaude(mark.by)) return !row.inserted.settled;
  const by = row.deleted?.by;
  if (by === undefined || !isClaude(by) || !isPendingDeletion(row)) return false;
  return by.session === mark.by.session;
}

/** Pairs absent rows of a region with inserted lines: as many as possible, in order (longest common subsequence). */
function revivals(
  region: readonly Row[],
  inserted: readonly string[],
  mark: Mark,
): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  if (inserted.length === 0) return found;
  const candidates = indices(region, (row) => canRevive(row, mark));
  if (candidates.length === 0) return found;
  if (candidates.length * inserted.length > MAX_PAIRS) {
    const lines = candidates.map((i) => (region[i] as Row).line);
    for (const [i, j] of matches(lines, inserted)) found.set(candidates[i] as number, j);
    return found;
  }
  const n = candidates.length;
  const m = inserted.length;
  const longest = new Int32Array((n + 1) * (m + 1));
  const lineAt = (i: number) => (region[candidates[i] as number] as Row).line;
  const lengthAt = (i: number, j: number) => longest[i * (m + 1) + j] as number;
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      longest[i * (m + 1) + j] =
        lineAt(i) === inserted[j]
          ? lengthAt(i + 1, j + 1) + 1
          : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < n && j < m; ) {
    if (lineAt(i) === inserted[j]) found.set(candidates[i++] as number, j++);
    else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i++;
    else j++;
  }
  return found;
}

/** A loop, because each step visits all rows, and Array.flatMap() takes ten times as long. */
function indices(rows: readonly Row[], isWanted: (row: Row) => boolean): number[] {
  const found: number[] = [];
  for (let i = 0; i < rows.length; i++) if (isWanted(rows[i] as Row)) found.push(i);
  return found;
}

/** The pairs of equal lines in a comparison. */
function* matches(old: readonly string[], now: readonly string[]): Generator<[number, number]> {
  let [i, j] = [0, 0];
  for (const { oldStart, oldEnd, newStart, newEnd } of compare(old, now)) {
    while (i < oldStart && j < newStart) yield [i++, j++];
    [i, j] = [oldEnd, newEnd];
  }
  while (i < old.length) yield [i++, j++];
}

interface Situation {
  rows: readonly Row[];
  /** The index in `rows` of each current line. */
  places: readonly number[];
  present: readonly string[];
  lines: Lines;
  mark: Mark;
  /** The end of the previous change, in the current lines. */
  floor: number;
  /** The start of the next change, in the current lines. */
  ceiling: number;
}

/**
 * Equal lines make it ambiguous which of them were inserted or deleted: `a a` to `a a a`. Chooses the place where most
 * rows come back, or where most deleted rows are pending or were deleted before.
 */
function placed(change: Replacement, situation: Situation): Replacement {
  const inserts = change.oldStart === change.oldEnd;
  const deletes = change.newStart === change.newEnd;
  if (!inserts && !deletes) return change;
  const worth = inserts ? revivedAt : repeatedAt;
  let best = change;
  let most = worth(change, situation);
  const length = inserts ? change.newEnd - change.newStart : change.oldEnd - change.oldStart;
  for (const other of places(change, situation)) {
    if (most === length) break;
    const found = worth(other, situation);
    if (found > most) [best, most] = [other, found];
  }
  return best;
}

/** Moves the change up and down as far as the lines around it are equal. */
function* places(change: Replacement, situation: Situation): Generator<Replacement> {
  const { present, lines, floor, ceiling } = situation;
  const [moved, start, end] =
    change.oldStart === change.oldEnd
      ? [lines, change.newStart, change.newEnd]
      : [present, change.oldStart, change.oldEnd];
  for (let by = 1; by < MAX_PLACES && change.oldStart - by > floor; by++) {
    if (present[change.oldStart - by] !== moved[end - by]) break;
    yield shifted(change, -by);
  }
  for (let by = 1; by < MAX_PLACES && change.oldEnd + by < ceiling; by++) {
    if (present[change.oldEnd + by - 1] !== moved[start + by - 1]) break;
    yield shifted(change, by);
  }
}

function revivedAt(change: Replacement, { rows, places, lines, mark }: Situation): number {
  const start = change.oldStart === 0 ? 0 : (places[change.oldStart - 1] as number) + 1;
  const end = change.oldEnd === places.length ? rows.length : (places[change.oldEnd] as number);
  if (start === end) return 0;
  const inserted = lines.slice(change.newStart, change.newEnd);
  return revivals(rows.slice(start, end), inserted, mark).size;
}

function repeatedAt({ oldStart, oldEnd }: Replacement, { rows, places }: Situation): number {
  let count = 0;
  for (let i = oldStart; i < oldEnd; i++) {
    const row = rows[places[i] as number] as Row;
    const isPendingInsertion = isClaude(row.inserted.by) && row.inserted.keep === undefined;
    if (isPendingInsertion || isPendingDeletion(row)) count++;
  }
  return count;
}
