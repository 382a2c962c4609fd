import { completed, type Lines, sameLines } from "./lines";
import { ALL, type Author, inBase, type Row, type Scope } from "./row";
import { stepped } from "./step";

/**
 * Limits the rows of a file that is written again and again: beyond both numbers, the second per line of its text, the
 * weave drops rows without further use.
 */
const MAX_ROWS = 500;
const MAX_ROWS_PER_LINE = 10;
/** In all. */
const MAX_ROWS_OF_ALL = 200_000;

/** A row that is absent, would be absent without Claude, and is of no decision, can only come back. */
function isOfUse(row: Row): boolean {
  if (row.present || inBase(row, ALL)) return true;
  return [row.inserted, row.deleted].some((mark) => mark?.keep ?? mark?.undo);
}

/**
 * All lines that a file ever had since it was first recorded, in one order, each with who inserted
 * and who deleted it. The present text, the text without a session's changes, hunks, keep and undo
 * are all read from it. Immutable: what changes it returns another one.
 */
export class Weave {
  #lines: Lines | undefined;

  private constructor(
    readonly rows: readonly Row[],
    /** The time of the last step. */
    readonly step: number,
    readonly nextId: number,
  ) {}

  /** A file as it was when it was first recorded. */
  static of(lines: Lines): Weave {
    const rows = lines.map((line, id): Row => {
      return { id, line, inserted: { by: "original", step: 0 }, present: true };
    });
    return new Weave(rows, 0, rows.length);
  }

  /** The text that is there now. */
  get lines(): Lines {
    this.#lines ??= completed(this.rows.filter((row) => row.present).map((row) => row.line));
    return this.#lines;
  }

  /** The text without the scope's pending changes. */
  base(scope: Scope): Lines {
    return completed(this.rows.filter((row) => inBase(row, scope)).map((row) => row.line));
  }

  /** Someone made `lines` of the present text. */
  to(lines: Lines, by: Author): Weave {
    if (sameLines(this.lines, lines)) return this;
    const { rows, nextId } = stepped(this.rows, lines, { by, step: this.step + 1 }, this.nextId);
    const most = Math.min(MAX_ROWS + lines.length * MAX_ROWS_PER_LINE, MAX_ROWS_OF_ALL);
    return new Weave(rows.length > most ? rows.filter(isOfUse) : rows, this.step + 1, nextId);
  }

  /** A weave of the same lines with other marks. */
  with(change: (row: Row) => Row): Weave {
    return new Weave(this.rows.map(change), this.step + 1, this.nextId);
  }
}
