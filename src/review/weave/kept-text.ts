import { compare } from "./compare";
import { FILE, type Lines, terminated } from "./lines";
import { ALL, type Change, inBase, isClaude, isPending, type Mark, type Row } from "./row";
import type { Weave } from "./weave";

export interface Decisions {
  /** Their ids, in their order. */
  decisions: readonly string[];
  /** The lines that one was about. */
  textAt: (decision: string) => Lines | undefined;
}

interface KeptText {
  lines: Lines;
  /** Claude's changes by which it differs from the text at HEAD. */
  owners: ReadonlySet<Change>;
}

/**
 * A file's text at HEAD (no lines: it is not there) with exactly what the user has kept of Claude's. Neither what
 * waits for a decision nor the user's own lines are in it, but those that were kept in place of Claude's.
 * Returns the end of a sentence, a string, that says why there is no such text.
 */
export function keptText(
  weave: Weave,
  head: Lines,
  { decisions, textAt }: Decisions,
): KeptText | string {
  const files = weave.rows.filter(({ line }) => line === FILE);
  // A pending one does not count if another one has been decided.
  const file = files.findLast((row) => !isPending(row.inserted, ALL)) ?? files.at(-1);
  const owners = new Set<Change>();
  const own = ({ by }: Mark) => isClaude(by) && owners.add(by);
  const kept = keptRows(weave.rows, textAt);
  if (kept.size === 0 && (head.length === 0 || (file && isRemoved(file)))) {
    if (head.length > 0) own(file?.deleted as Mark);
    return { lines: [], owners };
  }
  if (head.length === 0) {
    if (!file || !isClaude(file.inserted.by)) return "is not in git yet: add it, and commit again";
    own(file.inserted);
  }
  const known = new Map(weave.rows.map((row) => [row.id, row]));
  const lines: string[] = [];
  let gap = "";
  for (const { id, line, present } of rowsAt(weave, head, decisions)) {
    const row = known.get(id);
    if (line === FILE) continue;
    const isInserted = row !== undefined && !present && kept.has(row);
    if (row && present) gap = "";
    else if (isInserted) gap += "i";
    else if (!row || !isClaude(row.inserted.by)) gap += row ? (isRemoved(row) ? "r" : "o") : "h";
    gap = gap.replace(/(.)\1$/, "$1");
    if (isOpen(gap))
      return "has lines at HEAD, which you have changed, where Claude's are to stand";
    const isGone = row !== undefined && isRemoved(row);
    if (isInserted) own(row.inserted);
    if (isGone && present) own(row.deleted as Mark);
    if (isInserted || (present && !isGone)) lines.push(line);
  }
  // The user has made another file in place of one whose removal was kept.
  const isUsers = lines.length === 0 && kept.size === 0 && keptBy(file?.deleted) !== undefined;
  return { lines: isUsers ? [] : terminated([FILE, ...lines]), owners };
}

/**
 * The rows with those present that HEAD has. Which of equal ones these are is clear by what HEAD may be: the file as it
 * was first recorded with what the first few decisions kept, and without the user's own lines or with them.
 */
function rowsAt(weave: Weave, head: Lines, decisions: readonly string[]): readonly Row[] {
  const known = decisionsOf(weave.rows);
  const ids = decisions.filter((id) => known.has(id));
  let nearest = { weave, distance: Number.POSITIVE_INFINITY };
  for (let count = 0; count <= ids.length && nearest.distance > 0; count++) {
    for (const withUsers of [false, true]) {
      const state = stateOf(weave, new Set(ids.slice(0, count)), withUsers);
      const distance = distanceOf(state.lines, head);
      if (distance < nearest.distance) nearest = { weave: state, distance };
    }
  }
  return nearest.weave.to(head, "user").rows;
}

/** The text as it would be if the user had committed what these decisions kept. */
function stateOf(weave: Weave, kept: ReadonlySet<unknown>, withUsers: boolean): Weave {
  return weave.with((row) => {
    const { inserted, deleted } = row;
    const isIn = inserted.by === "user" ? withUsers : inserted.by === "original";
    const isUsers = withUsers && !row.present && deleted?.by === "user";
    const isOut = isUsers || (isRemoved(row) && kept.has(keptBy(deleted)));
    return { ...row, present: (isIn || kept.has(keptBy(inserted))) && !isOut };
  });
}

function distanceOf(one: Lines, other: Lines): number {
  return compare(one, other).reduce((sum, { oldStart, oldEnd, newStart, newEnd }) => {
    return sum + oldEnd - oldStart + newEnd - newStart;
  }, 0);
}

/**
 * Between two rows that HEAD has too: its own lines, which the review has never seen (`h`), rows that it lacks and
 * which may have replaced them (`o`), Claude's among these (`r`), and those to insert (`i`). If the first two
 * are not on one side of what is inserted, their order is open.
 */
function isOpen(gap: string): boolean {
  return /h/.test(gap) && /i/.test(gap) && !/^i*(?=.*o)[ho]+i*$/.test(gap);
}

function keptBy(mark: Mark | undefined): string | undefined {
  return mark && isClaude(mark.by) && mark.undo === undefined ? mark.keep : undefined;
}

/** Claude deleted it, and the user has kept that. */
function isRemoved(row: Row): boolean {
  return keptBy(row.deleted) !== undefined && !inBase(row, ALL);
}

/** The rows that a commit is to hold although HEAD may lack them. */
function keptRows(rows: readonly Row[], textAt: Decisions["textAt"]): ReadonlySet<Row> {
  const kept = new Set(rows.filter((row) => keptBy(row.inserted) && inBase(row, ALL)));
  for (const id of decisionsOf(rows)) {
    const stood = new Set(textAt(id));
    const run: Row[] = [];
    for (const row of rows) {
      const stands = row.inserted.by !== "user" && stood.has(row.line) && !markOf(row, id);
      if (stands) addReplaced(run.splice(0), { id, stood, kept });
      else run.push(row);
    }
    addReplaced(run, { id, stood, kept });
  }
  return kept;
}

function decisionsOf(rows: readonly Row[]): ReadonlySet<string> {
  return new Set(
    rows.flatMap(({ inserted, deleted }) =>
      [inserted, deleted].flatMap((mark) => keptBy(mark) ?? []),
    ),
  );
}

function markOf({ inserted, deleted }: Row, id: string): Mark | undefined {
  return [inserted, deleted].find((mark) => keptBy(mark) === id);
}

/**
 * If the user has changed lines of Claude's, takes those that were there when the hunk was kept: Claude's, or the
 * user's. Lines that are gone from the file, with nothing in their place, are not committed.
 */
function addReplaced(
  run: readonly Row[],
  { id, stood, kept }: { id: string; stood: ReadonlySet<string>; kept: Set<Row> },
): void {
  const users = run.filter(({ inserted }) => inserted.by === "user");
  users.sort((one, other) => one.inserted.step - other.inserted.step);
  for (const [i, { inserted, deleted, present, line }] of run.entries()) {
    if (!isClaude(inserted.by) || present || deleted?.by !== "user" || deleted.undo) continue;
    const steps = new Set([deleted.step]);
    const replacing = users.filter((own) => {
      const isOne = steps.has(own.inserted.step);
      if (isOne && own.deleted) steps.add(own.deleted.step);
      return isOne;
    });
    if ((keptBy(inserted) ?? id) !== id || !replacing.some((own) => own.present)) continue;
    if (stood.has(line)) {
      if (keptBy(inserted)) kept.add(run[i] as Row);
      continue;
    }
    // The user's earlier text divides the hunks.
    const isOfHunk = (row: Row, j: number) => {
      const { step } = markOf(row, id) ?? deleted;
      const newest = Math.max(step, inserted.step);
      const between = run.slice(Math.min(i, j), Math.max(i, j));
      const divides = (own: Row) => users.includes(own) && own.inserted.step < newest;
      return step < deleted.step && !between.some(divides);
    };
    if (!run.some(isOfHunk)) continue;
    for (const own of replacing) {
      const before = run.slice(0, run.indexOf(own));
      const over = before.findLast(({ deleted: gone }) => gone?.step === own.inserted.step);
      if (stood.has(own.line) && over?.inserted.by !== "original") kept.add(own);
    }
  }
}
