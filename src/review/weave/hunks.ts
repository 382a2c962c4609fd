import { FILE } from "./lines";
import {
  type Change,
  inBase,
  isClaude,
  isPending,
  type Mark,
  markOf,
  type Row,
  type Scope,
} from "./row";
import type { Weave } from "./weave";

/** The first row, from 1, and the count. If the count is 0, the row before; 0 at the top. */
export type Rows = readonly [first: number, count: number];

/** Adjacent rows in which the base text and the current text differ. */
export interface Hunk {
  /** Changes with the hunk's text. */
  id: string;
  old: Rows;
  new: Rows;
  oldLines: readonly string[];
  newLines: readonly string[];
  /** Claude's text, if the user has changed it since. */
  claudeLines: readonly string[];
  /** The number of new lines that Claude inserted; the others are the user's. */
  added: number;
  /** The number of old lines that Claude deleted. */
  removed: number;
  /** Claude's changes that made the hunk, in order. */
  owners: readonly Change[];
  /** Whether the user has changed rows inside the hunk. */
  mixed: boolean;
  /** The author who has since changed one of Claude's rows, so that an undo cannot decide which text is right. */
  conflict?: Later | undefined;
  /** Whether the hunk has all lines of a moved file, including unchanged ones. */
  isInParts?: boolean;
}

export type Later = "user" | "claude";

/** The owner of a mark outside of the scope; undefined for marks of the scope and for unknown owners. */
function laterOf({ by }: Mark, scope: Scope): Later | undefined {
  if (by === "user") return "user";
  return isClaude(by) && !scope.includes(by) ? "claude" : undefined;
}

/** The hunks in a weave's current text. The creation or deletion of the file is not part of them. */
export function hunksOf(weave: Weave, scope: Scope): Hunk[] {
  const builder = new Builder(scope);
  for (const row of weave.rows) if (row.line !== FILE) builder.take(row);
  builder.close();
  return builder.hunks;
}

type Part =
  /** In only one of the two texts. */
  | "differs"
  /** In neither text: Claude's insertion, which someone has deleted or changed since. */
  | "overwritten"
  | "later"
  | "common"
  | "gone";

class Builder {
  readonly hunks: Hunk[] = [];
  /** The numbers of rows so far, in the base text and in the current text. */
  #old = 0;
  #new = 0;
  #run: Run | undefined;

  constructor(private readonly scope: Scope) {}

  take(row: Row): void {
    const part = this.#partOf(row);
    if (part === "common") this.close();
    if (part === "differs" || part === "overwritten") {
      const { step } = markOf(row, this.scope);
      this.#open(step).add(row, part, step);
    }
    if (part === "later") this.#run?.addLater(row);
    if (inBase(row, this.scope)) this.#old++;
    if (row.present) this.#new++;
  }

  close(): void {
    const hunk = this.#run?.hunk(this.scope);
    if (hunk) this.hunks.push(hunk);
    this.#run = undefined;
  }

  /** A run ends before a row that Claude changed after others had inserted the rows between. */
  #open(step: number): Run {
    if (this.#run && !this.#run.reaches(step)) this.close();
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

/** Collects the rows of one hunk, in order. */
class Run {
  #rows: Row[] = [];
  #end = 0;
  /** The last step in which Claude changed a row of the run. */
  #claudeStep = 0;
  /** The steps in which others overwrote Claude's rows. */
  readonly #overwrites = new Set<number>();
  #differs = false;

  constructor(
    private readonly oldStart: number,
    private readonly newStart: number,
  ) {}

  add(row: Row, part: "differs" | "overwritten", step: number): void {
    this.#rows.push(row);
    this.#end = this.#rows.length;
    if (part === "differs") {
      this.#differs = true;
      this.#claudeStep = Math.max(this.#claudeStep, step);
    } else {
      this.#claudeStep = Math.max(this.#claudeStep, row.inserted.step);
      this.#overwrites.add(step);
    }
  }

  /** Others' rows belong to the run only if Claude's rows follow, or if they replaced Claude's rows. */
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
    // If Claude has written the text again, its deletion does not count as an edit.
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
      owners: ownersOf(differing.map((row) => markOf(row, scope))),
      mixed: users.length > 0 || rows.some(isEdit),
      conflict: users.some(replaces) ? "user" : later.some(replaces) ? "claude" : undefined,
    };
  }
}

/** The rows after the first `passed` ones. */
function range(passed: number, count: number): Rows {
  return [count > 0 ? passed + 1 : passed, count];
}

/** Claude's changes that made these marks, in order. */
export function ownersOf(marks: readonly Mark[]): Change[] {
  const owners = new Set(marks.map(({ by }) => by).filter(isClaude));
  return [...owners].sort((one, other) => one.at - other.at);
}
