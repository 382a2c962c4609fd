import { FILE } from "./lines";
import { type Change, inBase, isClaude, isPending, type Mark, type Row, type Scope } from "./row";
import type { Weave } from "./weave";

/** First row, from 1, and count. With count 0: the row before it, 0 at the top. */
export type Rows = readonly [first: number, count: number];

/** Rows next to each other in which the base text and the present text differ. */
export interface Hunk {
  /** Changes when the hunk's text does. */
  id: string;
  old: Rows;
  new: Rows;
  oldLines: readonly string[];
  newLines: readonly string[];
  /** Claude's text, if the user has changed it since. */
  claudeLines: readonly string[];
  /** How many of the new lines Claude inserted; the others are the user's. */
  added: number;
  /** How many of the old lines Claude deleted. */
  removed: number;
  /** Claude's changes that made it, in order. */
  owners: readonly Change[];
  /** The user has changed rows inside it. */
  mixed: boolean;
  /**
   * The user, or Claude outside of the scope, has since changed a row that Claude inserted. Undoing cannot
   * decide what is there.
   */
  conflict?: Later | undefined;
  /** It has all lines of a file that was moved, also those that do not differ. */
  isInParts?: boolean;
}

export type Later = "user" | "claude";

/** The owner of a mark outside of the scope; undefined for marks of the scope and for unknown owners. */
function laterOf({ by }: Mark, scope: Scope): Later | undefined {
  if (by === "user") return "user";
  return isClaude(by) && !scope.includes(by) ? "claude" : undefined;
}

/** The hunks of a weave's present text in a scope, without the file's own creation or deletion. */
export function hunksOf(weave: Weave, scope: Scope): Hunk[] {
  const builder = new Builder(scope);
  for (const row of weave.rows) if (row.line !== FILE) builder.take(row);
  builder.close();
  return builder.hunks;
}

/** The role of a row in a hunk. */
type Part =
  /** Only in one of the two texts. */
  | "differs"
  /** Claude's insertion that someone has deleted or changed since: in neither. */
  | "overwritten"
  | "later"
  | "common"
  | "gone";

class Builder {
  readonly hunks: Hunk[] = [];
  /** The rows of base and present text that were passed. */
  #old = 0;
  #new = 0;
  #run: Run | undefined;

  constructor(private readonly scope: Scope) {}

  take(row: Row): void {
    const part = this.#partOf(row);
    if (part === "common") this.close();
    if (part === "differs" || part === "overwritten") this.#open(row).add(row, part);
    if (part === "later") this.#run?.addLater(row);
    if (inBase(row, this.scope)) this.#old++;
    if (row.present) this.#new++;
  }

  close(): void {
    const hunk = this.#run?.hunk(this.scope);
    if (hunk) this.hunks.push(hunk);
    this.#run = undefined;
  }

  /** A run ends before what Claude did later on the other side of others' rows. */
  #open(row: Row): Run {
    if (this.#run && !this.#run.reaches(stepOf(row))) this.close();
    this.#run ??= new Run(this.#old, this.#new);
    return this.#run;
  }

  #partOf(row: Row): Part {
    if (inBase(row, this.scope) !== row.present) return "differs";
    if (!row.present) {
      const { inserted, deleted } = row;
      const isOverwritten =
        isPending(inserted, this.scope) && deleted && laterOf(deleted, this.scope) && !deleted.undo;
      return isOverwritten ? "overwritten" : "gone";
    }
    return laterOf(row.inserted, this.scope) && this.#run ? "later" : "common";
  }
}

function stepOf(row: Row): number {
  return markOf(row).step;
}

/** The mark by which a row differs from the base text, or was overwritten. */
export function markOf(row: Row): Mark {
  return row.present ? row.inserted : (row.deleted as Mark);
}

/** The rows of a hunk while it is being read, in order. */
class Run {
  #rows: Row[] = [];
  #end = 0;
  /** The last step by which Claude changed something here, and the others' steps that overwrote. */
  #claudeStep = 0;
  readonly #overwrites = new Set<number>();
  #differs = false;

  constructor(
    private readonly oldStart: number,
    private readonly newStart: number,
  ) {}

  add(row: Row, part: "differs" | "overwritten"): void {
    this.#rows.push(row);
    this.#end = this.#rows.length;
    if (part === "differs") {
      this.#differs = true;
      this.#claudeStep = Math.max(this.#claudeStep, stepOf(row));
    } else {
      this.#claudeStep = Math.max(this.#claudeStep, row.inserted.step);
      this.#overwrites.add(stepOf(row));
    }
  }

  /** Others' rows are inside only if more follows, or if they stand for rows of Claude's. */
  addLater(row: Row): void {
    this.#rows.push(row);
    if (this.#overwrites.has(row.inserted.step)) this.#end = this.#rows.length;
  }

  /** Whether a row that Claude changed in this step belongs to this run. */
  reaches(step: number): boolean {
    const between = this.#rows.slice(this.#end);
    return between.every(
      ({ inserted }) => inserted.step > this.#claudeStep && inserted.step > step,
    );
  }

  hunk(scope: Scope): Hunk | undefined {
    if (!this.#differs) return undefined;
    const rows = this.#rows.slice(0, this.#end);
    const old = rows.filter((row) => inBase(row, scope));
    const now = rows.filter((row) => row.present);
    const oldLines = old.map((row) => row.line);
    const newLines = now.map((row) => row.line);
    const differing = rows.filter((row) => inBase(row, scope) !== row.present);
    const later = now.filter((row) => laterOf(row.inserted, scope));
    const users = later.filter((row) => row.inserted.by === "user");
    // Text that Claude has written again since is not an edit.
    const isAgain = ({ line }: Row) => now.some((row) => row.line === line && !users.includes(row));
    const isEdit = (row: Row) =>
      !row.present && !inBase(row, scope) && row.deleted?.by === "user" && !isAgain(row);
    const replaces = (row: Row) => later.includes(row) && this.#overwrites.has(row.inserted.step);
    const claudes = rows.filter((row) =>
      row.present ? !replaces(row) : isPending(row.inserted, scope),
    );
    const text = [...oldLines, "\0", ...newLines].join("");
    return {
      id: `${differing[0]?.id}-${Bun.hash(text).toString(36)}`,
      old: range(this.oldStart, old.length),
      new: range(this.newStart, now.length),
      oldLines,
      newLines,
      claudeLines: claudes.map((row) => row.line),
      added: differing.filter((row) => row.present).length,
      removed: differing.filter((row) => !row.present).length,
      owners: ownersOf(differing.map(markOf)),
      mixed: users.length > 0 || rows.some(isEdit),
      conflict: users.some(replaces) ? "user" : later.some(replaces) ? "claude" : undefined,
    };
  }
}

/** `passed` rows stand before it. */
function range(passed: number, count: number): Rows {
  return [count > 0 ? passed + 1 : passed, count];
}

/** Claude's changes among who made these marks, in order. */
export function ownersOf(marks: readonly Mark[]): Change[] {
  const owners = new Set(marks.map(({ by }) => by).filter(isClaude));
  return [...owners].sort((one, other) => one.at - other.at);
}
