import { completed, type Lines, sameLines } from "./lines";
import { ALL, type Author, inBase, type Row, type Scope } from "./row";
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
  if (row.present || inBase(row, ALL)) return true;
  return [row.inserted, row.deleted].some((mark) => mark?.keep ?? mark?.undo);
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
    return new Weave(rows.length > most ? rows.filter(isOfUse) : rows, this.step + 1, nextId);
  }

  /** A weave with changed rows. */
  with(change: (row: Row) => Row): Weave {
    return new Weave(this.rows.map(change), this.step + 1, this.nextId);
  }
}
