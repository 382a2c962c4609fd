import { compare, type Replacement, shifted } from "./compare";
import { FILE, type Lines, terminated } from "./lines";
import { isClaude, type Mark, type Row } from "./row";

/** Tries this many places for a change that equal lines leave open. */
const MAX_PLACES = 200;
/** Rows that came back are looked for among so many, times the lines inserted. */
const MAX_PAIRS = 250_000;

/**
 * The rows after a step to `lines`: what is missing there gets the mark as its deletion, what is new
 * becomes a row with the mark as its insertion. Rows that come back are revived rather than added, so
 * that undo, /rewind, git checkout and the like need no state of their own: the text says it.
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
 * Claude's deletions in a file are settled once the user deletes the file, even if it is made again; they are
 * pending again once the user restores the text.
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
 * The region's own rows stay, those that were present as deleted. Row by row a new one comes behind
 * the one that it replaces, so that a part of them can be undone in its place; the rest at the end.
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
      result.push({ ...row, present: true });
    } else if (row.present) {
      result.push(deleted(row, mark));
      addUpTo(Math.min(taken + 1, revivedAt[0] ?? inserted.length));
    } else {
      result.push(row);
      // Put the new file's own line before the lines that it once had: they may come back.
      if (i === lastFile && inserted[0] === FILE) addUpTo(Math.min(1, revivedAt[0] ?? 1));
    }
  }
  addUpTo(inserted.length);
  return nextId;
}

/**
 * A user who deletes again what Claude had deleted, and someone brought back, repeats Claude's
 * deletion: CTRL-R after `u`.
 */
function deleted(row: Row, mark: Mark): Row {
  const repeats = mark.by === "user" && isPendingDeletion(row);
  return { ...row, present: false, deleted: repeats ? row.deleted : mark };
}

function isPendingDeletion({ deleted }: Row): boolean {
  if (deleted === undefined || deleted.settled || deleted.gone) return false;
  return isClaude(deleted.by) && deleted.keep === undefined;
}

/**
 * Whether the row may come back as it was. The user brings back anything but what was undone for good; Claude only
 * what the same session deleted and the user has not kept. Anything else that Claude writes again is a new change.
 */
function canRevive(row: Row, mark: Mark): boolean {
  if (row.present) return false;
  if (!isClaude(mark.by)) return !row.inserted.settled;
  const by = row.deleted?.by;
  if (by === undefined || !isClaude(by) || !isPendingDeletion(row)) return false;
  return by.session === mark.by.session;
}

/** Which rows of a region come back as which of the inserted lines: the most, in order. */
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

/** A loop: Array.flatMap() takes ten times as long, and each step goes through all rows. */
function indices(rows: readonly Row[], isWanted: (row: Row) => boolean): number[] {
  const found: number[] = [];
  for (let i = 0; i < rows.length; i++) if (isWanted(rows[i] as Row)) found.push(i);
  return found;
}

/** The pairs that a comparison leaves equal. */
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
  /** The index in `rows` of each present line. */
  places: readonly number[];
  present: readonly string[];
  lines: Lines;
  mark: Mark;
  /** In the present lines: where the change before ends, and the next one begins. */
  floor: number;
  ceiling: number;
}

/**
 * Equal lines leave it open which of them were inserted or deleted: `a a` to `a a a`. Takes the place
 * where most rows come back, or where most deleted rows are still pending or were deleted before.
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

/** The same change further up and down, as far as the lines around it are equal. */
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
