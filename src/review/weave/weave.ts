import { completed, type Lines, sameLines } from "./lines";
import { ALL, type Author, type Change, inBase, isClaude, type Row, type Scope } from "./row";
import { stepped } from "./step";

/**
 * A file may be rewritten many times. Beyond this limit, MAX_ROWS plus MAX_ROWS_PER_LINE for each line of the text, the
 * weave drops rows that no decision needs.
 */
const MAX_ROWS = 500;
const MAX_ROWS_PER_LINE = 10;
/** The limit for files of any length. */
const MAX_ROWS_OF_ALL = 200_000;

/** Other rows matter only if their text comes back: they are absent from both texts, and no decision is about them. */
function isOfUse(row: Row): boolean {
  if (row.present || row.decided || inBase(row, ALL)) return true;
  return [row.inserted, row.deleted].some((mark) => mark?.keep ?? mark?.undo);
}

/** Two of Claude's changes: one inserted lines, and the other deleted them in another turn. */
type Lost = readonly [inserted: Change, deleted: Change];

/** Adds the turns of dropped rows, by both turns. */
function withLost(known: ReadonlyMap<string, Lost>, rows: readonly Row[]) {
  const lost = new Map(known);
  for (const row of rows) {
    const [inserted, deleted] = [row.inserted.by, row.deleted?.by ?? "user"];
    if (isOfUse(row) || !isClaude(inserted) || !isClaude(deleted)) continue;
    const turns = [inserted, deleted].map(({ session, turn }) => `${session} ${turn}`);
    if (turns[0] !== turns[1]) lost.set(turns.join(), [inserted, deleted]);
  }
  return lost;
}

/**
 * All lines that a file has had since it was first recorded, in one order, each with the authors of its insertion and
 * deletion. The current text, the text without a session's changes, and the hunks are all derived from it. Immutable:
 * changes return another weave.
 */
export class Weave {
  #lines: Lines | undefined;

  private constructor(
    readonly rows: readonly Row[],
    /** The number of the last step. */
    readonly step: number,
    readonly nextId: number,
    private readonly lost: ReadonlyMap<string, Lost> = new Map(),
  ) {}

  /** The weave of a file's first recorded text. */
  static of(lines: Lines): Weave {
    const rows = lines.map((line, id): Row => {
      return { id, line, inserted: { by: "original", step: 0 }, present: true };
    });
    return new Weave(rows, 0, rows.length);
  }

  /** The current text. */
  get lines(): Lines {
    this.#lines ??= completed(this.rows.filter((row) => row.present).map((row) => row.line));
    return this.#lines;
  }

  /** The text without the scope's pending changes. */
  base(scope: Scope): Lines {
    return completed(this.rows.filter((row) => inBase(row, scope)).map((row) => row.line));
  }

  /** The weave after `by` has changed the text to `lines`. */
  to(lines: Lines, by: Author): Weave {
    if (sameLines(this.lines, lines)) return this;
    const { rows, nextId } = stepped(this.rows, lines, { by, step: this.step + 1 }, this.nextId);
    const most = Math.min(MAX_ROWS + lines.length * MAX_ROWS_PER_LINE, MAX_ROWS_OF_ALL);
    if (rows.length <= most) return new Weave(rows, this.step + 1, nextId, this.lost);
    return new Weave(rows.filter(isOfUse), this.step + 1, nextId, withLost(this.lost, rows));
  }

  /** Whether dropped rows belong to the base text. */
  lacksBase(scope: Scope): boolean {
    return this.lost.values().some(([inserted, deleted]) => {
      return scope.includes(deleted) && !scope.includes(inserted);
    });
  }

  /** A weave with changed rows. */
  with(change: (row: Row) => Row): Weave {
    return new Weave(this.rows.map(change), this.step + 1, this.nextId, this.lost);
  }
}
