import type { Content, FileChange, RecordedScope, RecordOf, UndoRecord } from "../journal/record";
import { kept, type Selection, settled, takenBack, undone, without } from "../weave/decision";
import { type Lines, sameLines } from "../weave/lines";
import { ALL, type Change, isPending, type Mark, type Scope } from "../weave/row";
import { Weave } from "../weave/weave";
import { type Contents, hashOfLines } from "./contents";

/** Without a recorded scope, all of Claude's changes. */
export function scopeOf(recorded: RecordedScope | undefined): Scope {
  if (!recorded) return ALL;
  const { session, prompt, turns, change: id, kept } = recorded;
  const [first, last] = turns ?? [];
  const isInTurns = ({ turn = 0 }: Change) =>
    first !== undefined && last !== undefined && turn >= first && turn <= last;
  return {
    includes: (change: Change) =>
      (id === undefined || change.id === id) &&
      (session === undefined || change.session === session) &&
      (turns ? isInTurns(change) : prompt === undefined || change.prompt === prompt),
    ...(kept && { withKept: true }),
  };
}

/** A change that affects no lines, or whose lines we do not know. */
export interface FileMark extends Mark {
  readonly by: Change;
  readonly kind: "mode" | "staged" | "private" | "large" | "unknown";
  /** Permission bits before and after. */
  readonly mode?: readonly [number, number] | undefined;
}

/** A file of the review. Applies the journal's records in order. */
export class TrackedFile {
  /** Changes with each record about the file. */
  version = 0;
  /** The text of a symlink is its target. */
  symlink = false;
  /** The earlier path of a moved file. */
  from: string | undefined;
  /** Decisions about a text that had already changed. */
  readonly #stale = new Set<string>();
  #weave: Weave | undefined;
  #marks: readonly FileMark[] = [];
  /** Records that we apply when the file is needed. */
  #waiting: (() => void)[] = [];
  /** The text that Neovim wrote last, and when, if no change followed. */
  #written: { lines: Lines; at: number } | undefined;

  /** `path` is relative to the root, with "/". */
  constructor(
    readonly path: string,
    private readonly contents: Contents,
  ) {}

  /** Undefined while the text is unknown. */
  get weave(): Weave | undefined {
    this.#catchUp();
    return this.#weave;
  }

  get marks(): readonly FileMark[] {
    this.#catchUp();
    return this.#marks;
  }

  /** Whether all undos of the file have been written to disk. */
  get isSettled(): boolean {
    const { weave } = this;
    return !weave || settled(weave) === weave;
  }

  /** Whether the decision has no effect, because the text had changed before it. */
  isStale(decision: string): boolean {
    this.#catchUp();
    return this.#stale.has(decision);
  }

  /** `since` is when the call, or its turn, began, in ms since the epoch. */
  changed(change: Change, file: FileChange, source: string, since: number): void {
    this.#later(() => this.#applyChange(change, file, source, since));
  }

  written(content: Content, at: number): void {
    this.#later(() => {
      const lines = this.contents.lines(content);
      if (!lines) return;
      this.#weave = settled(this.#weave?.to(lines, "user") ?? Weave.of(lines));
      this.#written = { lines, at };
    });
  }

  kept(record: RecordOf<"keep">, file: RecordOf<"keep">["files"][number]): void {
    const { id, scope } = record;
    this.#later(() => {
      if (!this.#showing(file.keep, file.text, scope, file.base)) return void this.#stale.add(id);
      this.#decide(id, file.keep, scopeOf(scope), kept, { keep: id });
    });
  }

  undone(record: UndoRecord, file: UndoRecord["files"][number]): void {
    const { id, scope } = record;
    this.#later(() => {
      if (file.undo === undefined || !this.#showing(file.undo, file.before, scope)) return;
      this.#decide(id, file.undo, scopeOf(scope), undone, { undo: id });
    });
  }

  takenBack(id: string): void {
    this.#later(() => {
      this.#weave = this.#weave && takenBack(this.#weave, id);
      this.#stale.delete(id);
      this.#marks = this.#marks.map((mark) => without(mark, id));
    });
  }

  #later(apply: () => void): void {
    this.version++;
    this.#waiting.push(apply);
  }

  #catchUp(): void {
    while (!this.catchUp(Infinity));
  }

  /** Applies waiting records for at most `ms`. Returns whether it has applied all. */
  catchUp(ms: number): boolean {
    const end = performance.now() + ms;
    let done = 0;
    for (const apply of this.#waiting) {
      apply();
      done++;
      if (performance.now() > end) break;
    }
    this.#waiting.splice(0, done);
    return this.#waiting.length === 0;
  }

  #applyChange(change: Change, file: FileChange, source: string, since: number): void {
    const before = this.contents.lines(file.before);
    const after = this.contents.lines(file.after);
    this.symlink = file.symlink ?? false;
    this.from = file.from ?? this.from;
    if (file.mode) this.#mark(change, "mode", file.mode);
    if (file.staged) return this.#mark(change, "staged");
    if (!before || !after) this.#mark(change, reasonOf(file));
    this.#weave ??= before || after ? Weave.of((before ?? after) as Lines) : undefined;
    if (!this.#weave) return;
    if (before && !this.#wroteSince(source, since)) this.#weave = this.#weave.to(before, "user");
    if (before) this.#weave = settled(this.#weave);
    if (after) this.#weave = this.#weave.to(after, change);
    this.#written = undefined;
  }

  /**
   * Whether Neovim wrote the current text while the command ran. The command changed only the differences from that
   * text, although it began with another. An editing tool, in contrast, knows the text that it replaced.
   */
  #wroteSince(source: string, since: number): boolean {
    const written = this.#written;
    if (source === "tool" || !written || written.at < since) return false;
    return sameLines(written.lines, this.#weave?.lines ?? []);
  }

  #mark(by: Change, kind: FileMark["kind"], mode?: readonly [number, number]): void {
    const step = this.#weave?.step ?? 0;
    this.#marks = [...this.#marks, { by, kind, step, ...(mode && { mode }) }];
  }

  /** Sets the text that the decision was about, because its row numbers are valid only there. */
  #showing(what: Selection, text: Content, scope?: RecordedScope, base?: string): boolean {
    const lines = this.contents.lines(text);
    if (!lines || !this.#weave) return what === "all";
    const weave = this.#weave.to(lines, "user");
    if (base !== undefined && hashOfLines(weave.base(scopeOf(scope))) !== base) return false;
    this.#weave = weave;
    return true;
  }

  #decide(
    id: string,
    what: Selection,
    scope: Scope,
    decide: (weave: Weave, id: string, what: Selection, scope: Scope) => Weave,
    as: Partial<FileMark>,
  ): void {
    if (this.#weave) this.#weave = decide(this.#weave, id, what, scope);
    this.#marks = this.#marks.map((mark) =>
      isPending(mark, scope) && mark.undo === undefined && isAbout(what, mark)
        ? { ...mark, ...as }
        : mark,
    );
  }
}

/** Selected rows do not include changes of the file itself. */
function isAbout(what: Selection, mark: FileMark): boolean {
  if (what === "all") return true;
  return what.file === true || (what.mode === true && mark.kind === "mode");
}

function reasonOf({ before, after }: FileChange): FileMark["kind"] {
  for (const content of [after, before]) if ("withheld" in content) return content.withheld;
  // The blob is missing or damaged.
  return "unknown";
}
