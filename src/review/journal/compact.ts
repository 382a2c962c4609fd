import { filesOf, type Line, type LineFile, type Plan } from "./rewrite";

/** What the journal says of one file. */
class History {
  /** The records that are about it, in order. */
  readonly ids: unknown[] = [];
  /** The index of the last one that gives its text. */
  #last = -1;
  /** Up to the text that was kept as a whole: what the records before it say is decided. */
  #keptFrom = -1;
  /** The decision that kept it. */
  keptBy: unknown;
  /** It was moved, or a decision was taken back: the records belong together. */
  isTied = false;

  add(id: unknown, type: unknown): void {
    this.ids.push(id);
    if (type === "change" || type === "written" || type === "undo")
      this.#last = this.ids.length - 1;
  }

  keep(id: unknown): void {
    [this.#keptFrom, this.keptBy] = [this.#last, id];
  }

  /** The records that nobody needs for this file. */
  get decided(): unknown[] {
    if (this.isTied || this.#keptFrom < 1) return [];
    const needed = this.ids[this.#keptFrom];
    return this.ids.slice(0, this.#keptFrom).filter((id) => id !== needed);
  }
}

const CALLS = new Set<unknown>(["begin", "change"]);
const TURNS = new Set<unknown>(["prompt", "stop", "end"]);

/**
 * Takes out of the journal what says nothing of what waits (times in ms since the epoch): of a file that
 * was kept as a whole before `before` all but the last text and that decision, and what calls and turns
 * left that changed no file before `ended`. What is listed, and what can be undone, stays as it is;
 * decisions before `before` can no longer be taken back.
 */
export function compaction(before: number, ended = before): Plan {
  return (lines) => compacted(lines, before, ended);
}

function compacted(lines: readonly Line[], before: number, ended: number): ReturnType<Plan> {
  const histories = historiesOf(lines, before);
  const decided = new Map<unknown, Set<unknown>>();
  for (const [path, history] of histories) {
    for (const id of history.decided) decided.set(id, (decided.get(id) ?? new Set()).add(path));
  }
  const { sessions, uses } = needed(lines, decided);
  let head: unknown;
  return (line) => {
    const movesHead = line.head !== undefined && line.head !== head;
    head = line.head ?? head;
    const files = filesOf(line);
    const left = files.filter(({ path }) => !decided.get(line.id)?.has(path));
    if (left.length < files.length) {
      return left.length > 0 || movesHead ? { ...line, files: left } : null;
    }
    const isOld = typeof line.at === "number" && line.at < ended;
    if (isOld && line.type === "seen") return null;
    if (isOld && files.length === 0 && !movesHead && !("index" in line)) {
      if (CALLS.has(line.type) && !uses.has(line.use)) return null;
      if (TURNS.has(line.type) && !sessions.has(line.session)) return null;
    }
    return withoutBase(line, histories);
  };
}

function historiesOf(lines: readonly Line[], before: number): Map<unknown, History> {
  const histories = new Map<unknown, History>();
  const of = (path: unknown) => {
    const history = histories.get(path) ?? new History();
    histories.set(path, history);
    return history;
  };
  const pathsOf = new Map<unknown, unknown[]>();
  for (const line of lines) {
    const { type, id, at, scope } = line;
    for (const { path, from, keep } of filesOf(line)) {
      const history = of(path);
      history.add(id, type);
      if (from !== undefined) history.isTied = of(from).isTied = true;
      // If it is of one session, turn or call alone, what the others changed still waits.
      const isPartial = scope?.session ?? scope?.prompt ?? scope?.change;
      const keepsAll = type === "keep" && keep === "all" && isPartial === undefined;
      if (keepsAll && typeof at === "number" && at < before) history.keep(id);
    }
    if (type === "keep" || type === "undo") {
      pathsOf.set(
        id,
        filesOf(line).map(({ path }) => path),
      );
    }
    if (type === "back")
      for (const path of pathsOf.get(line.decision) ?? []) of(path).isTied = true;
  }
  return histories;
}

/** Sessions and calls of which changes are left. */
function needed(lines: readonly Line[], decided: ReadonlyMap<unknown, ReadonlySet<unknown>>) {
  const sessions = new Set<unknown>();
  const uses = new Set<unknown>();
  for (const line of lines) {
    const gone = decided.get(line.id);
    if (filesOf(line).every(({ path }) => gone?.has(path))) continue;
    sessions.add(line.session);
    if (line.use !== undefined) uses.add(line.use);
  }
  return { sessions, uses };
}

/** The base text of a decision was another one, by the changes that are gone. */
function withoutBase(line: Line, histories: ReadonlyMap<unknown, History>): Line {
  const isShort = (file: LineFile) => {
    const history = histories.get(file.path);
    return history?.keptBy === line.id && history?.decided.length !== 0 && "base" in file;
  };
  if (line.type !== "keep" || !filesOf(line).some(isShort)) return line;
  const files = filesOf(line).map((file) => {
    if (!isShort(file)) return file;
    const { base, ...rest } = file as { base?: unknown };
    return rest;
  });
  return { ...line, files };
}
