import { compare } from "./compare";
import { FILE, type Lines, terminated } from "./lines";
import { ALL, type Change, inBase, isClaude, isPending, type Mark, type Row } from "./row";
import type { Weave } from "./weave";

export interface Decisions {
  /** Ids, in order. */
  decisions: readonly string[];
  /** The text that a decision was about. */
  textAt: (decision: string) => Lines | undefined;
}

/**
 * Adds the changes that the user has kept to a file's text at HEAD (no lines if HEAD lacks the file). Leaves out pending
 * changes, and the user's lines unless they were kept in place of Claude's. `owners` are Claude's changes in the result.
 * If there is no such text, returns a string: the end of a sentence that says why.
 */
export function keptText(
  weave: Weave,
  head: Lines,
  { decisions, textAt }: Decisions,
): { lines: Lines; owners: ReadonlySet<Change> } | string {
  const files = weave.rows.filter(({ line }) => line === FILE);
  // A pending creation of the file does not count if another one was decided.
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
    if (isOpen(gap)) return "has lines at HEAD that you have changed, in the place of Claude's";
    const isGone = row !== undefined && isRemoved(row);
    if (isInserted) own(row.inserted);
    if (isGone && present) own(row.deleted as Mark);
    if (isInserted || (present && !isGone)) lines.push(line);
  }
  // The user kept the file's removal, and then made another file at this path.
  const isUsers = lines.length === 0 && kept.size === 0 && keptBy(file?.deleted) !== undefined;
  return { lines: isUsers ? [] : terminated([FILE, ...lines]), owners };
}

/**
 * Returns the rows with HEAD's rows present. To choose among equal lines, it starts from the nearest state that HEAD can
 * be: the original file with the changes of the first few decisions, with or without the user's lines.
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

/** The state of the file if the user had committed the changes that these decisions kept. */
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
 * Whether the order of rows is ambiguous between two rows that HEAD also has. The gap lists the rows between: HEAD's
 * lines that the review has never seen (`h`), other absent rows, which may have replaced them (`o`), those that Claude
 * removed (`r`), and rows to insert (`i`). The order is clear only if all `h` and `o` are on one side of the `i`.
 */
function isOpen(gap: string): boolean {
  return /h/.test(gap) && /i/.test(gap) && !/^i*(?=.*o)[ho]+i*$/.test(gap);
}

function keptBy(mark: Mark | undefined): string | undefined {
  return mark && isClaude(mark.by) && mark.undo === undefined ? mark.keep : undefined;
}

/** Whether Claude deleted the row and the user kept the deletion. */
function isRemoved(row: Row): boolean {
  return keptBy(row.deleted) !== undefined && !inBase(row, ALL);
}

/** The rows that belong in a commit although HEAD may lack them. */
function keptRows(rows: readonly Row[], textAt: Decisions["textAt"]): ReadonlySet<Row> {
  const isKept = ({ inserted, revivals }: Row) =>
    keptBy(inserted) ?? keptBy(revivals?.at(-1)?.inserted);
  const kept = new Set(rows.filter((row) => isKept(row) && inBase(row, ALL)));
  for (const id of decisionsOf(rows)) {
    const decided = new Set(textAt(id));
    const run: Row[] = [];
    for (const row of rows) {
      const isCommon = row.inserted.by !== "user" && decided.has(row.line) && !markOf(row, id);
      if (isCommon) addReplaced(run.splice(0), { id, decided, kept });
      else run.push(row);
    }
    addReplaced(run, { id, decided, kept });
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
 * If the user has changed Claude's lines, adds the lines of the moment when the hunk was kept: Claude's or the user's.
 * Lines that the user removed without a replacement are not committed.
 */
function addReplaced(
  run: readonly Row[],
  { id, decided, kept }: { id: string; decided: ReadonlySet<string>; kept: Set<Row> },
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
    if (decided.has(line)) {
      if (keptBy(inserted)) kept.add(run[i] as Row);
      continue;
    }
    // The user's earlier text separates hunks.
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
      if (decided.has(own.line) && over?.inserted.by !== "original") kept.add(own);
    }
  }
}
