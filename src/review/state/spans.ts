import type { JournalRecord, RecordOf } from "../journal/record";

/** A time in which a call of Claude's may have changed files, in ms since the epoch. */
export interface CallSpan {
  from: number;
  /** Infinity: the call still runs. */
  to: number;
  /** The call runs and its session works: more changes may follow. */
  isOpen: boolean;
  call: RecordOf<"begin"> | RecordOf<"change">;
  /** The only files it can have changed: a hook of the user's formats what an editing tool wrote. */
  paths?: readonly string[];
}

/** The clock of the file system lags behind by up to a tick (4-10 ms). */
export const SLACK_MS = 50;
/** The hook may record the end of a call this late. */
const LATE_MS = 2_000;
/** A hook that formats a file may take this long. */
const FORMAT_MS = 10_000;
/** A record's time has whole milliseconds, a file's has parts of them. */
export const CUT_OFF_MS = 1;

/**
 * Returns when Bash and MCP tools ran, and hooks that format what an editing tool wrote. A call without an end
 * ends with its turn: with the next prompt (the user pressed Esc, for which there is no hook: then with the time
 * since when the CLI was idle), or with a stop; but with a stop that leaves agents or commands running it only
 * counts as complete so far.
 */
export function spansOf(records: readonly JournalRecord[]): CallSpan[] {
  const timeline = new Timeline();
  for (const record of records) timeline.take(record);
  return [...timeline.spans, ...afterEdits(records)];
}

/** After each edit that hooks of the user's may format, until its turn ends. */
function afterEdits(records: readonly JournalRecord[]): CallSpan[] {
  const spans: CallSpan[] = [];
  const turns = new Map<string, CallSpan[]>();
  for (const record of records) {
    if (record.type === "change" && record.hooked) {
      const [from, to] = [record.at - SLACK_MS, record.at + FORMAT_MS];
      const paths = record.files.map(({ path }) => path);
      const span = { from, to, isOpen: false, call: record, paths };
      spans.push(span);
      turns.set(record.session, [...(turns.get(record.session) ?? []), span]);
    } else if (record.type === "stop" || record.type === "end" || record.type === "prompt") {
      const turn = turns.get(record.session) ?? [];
      for (const span of turn) span.to = Math.min(span.to, record.at + CUT_OFF_MS);
      turns.delete(record.session);
    }
  }
  return spans;
}

/** The spans of the records that it was given, in their order. */
export class Timeline {
  readonly spans: CallSpan[] = [];
  /** Calls that have not ended, and those whose end is recorded: a begin may come after it. */
  readonly #begun = new Map<string, CallSpan>();
  readonly #ended = new Map<string, CallSpan & { call: RecordOf<"change"> }>();
  /** Sessions whose turn has ended while agents or commands still run. */
  readonly #background = new Set<string>();
  /** The call of each session that began or ended last. */
  readonly #last = new Map<string, CallSpan["call"]>();

  take(record: JournalRecord): void {
    const { type } = record;
    const isCall = type === "begin" || (type === "change" && record.source === "bash");
    if (isCall) this.#last.set(record.session, record);
    if (type === "begin") this.#begin(record);
    else if (type === "change" && record.source === "bash") this.#end(record);
    else if (type === "stop" && record.background) this.#leave(record);
    else if (type === "stop" || type === "end") {
      this.#background.delete(record.session);
      this.#endAll(record.session, record.at);
    } else if (type === "prompt" && !this.#background.has(record.session)) {
      this.#endAll(record.session, record.at, record.idle);
    }
  }

  #begin(call: RecordOf<"begin">): void {
    const span = { from: call.at - SLACK_MS, to: Infinity, isOpen: true, call };
    const late = this.#ended.get(call.use);
    // Two calls may share an id, and two hooks may report the start of one call.
    if (late && call.at <= late.call.at) {
      late.from = startOf(span, late.call);
      return;
    }
    if (this.#begun.has(call.use)) return;
    this.#begun.set(call.use, span);
    this.spans.push(span);
  }

  #end(call: RecordOf<"change">): void {
    const { use = "" } = call;
    const begin = this.#begun.get(use);
    if (begin) this.spans.splice(this.spans.lastIndexOf(begin), 1);
    this.#begun.delete(use);
    const span = { from: startOf(begin, call), to: call.at + CUT_OFF_MS, isOpen: false, call };
    this.#ended.set(use, span);
    this.spans.push(span);
  }

  /** Processes that commands left behind count as the last of them. */
  #leave({ session, at, left }: RecordOf<"stop">): void {
    this.#background.add(session);
    const [call, use] = [this.#last.get(session), `${session}/left`];
    if (left && call && !this.#begun.has(use)) {
      const span = { from: at, to: Infinity, isOpen: false, call };
      this.#begun.set(use, span);
      this.spans.push(span);
    }
    for (const span of this.#begun.values()) {
      if (span.call.session === session) span.isOpen = false;
    }
  }

  #endAll(session: string, at: number, idle = 0): void {
    for (const [use, span] of this.#begun) {
      if (span.call.session !== session) continue;
      span.to = idle >= span.call.at ? idle + SLACK_MS : at + CUT_OFF_MS;
      span.isOpen = false;
      this.#begun.delete(use);
    }
  }
}

/**
 * A call's hook runs before the user is asked for permission, and its duration leaves out how long they
 * took (measured with 2.1.330). Each of the two hooks may start late.
 */
function startOf(begin: CallSpan | undefined, { began, at }: RecordOf<"change">): number {
  const measured = (began ?? at) - SLACK_MS;
  if (!begin) return measured;
  if (began === undefined) return begin.from;
  return Math.max(Math.min(begin.from, measured), began - LATE_MS);
}

/**
 * The call that began last of those that may have changed the file at `until`; or have deleted it after `since`: only
 * the folder shows when, and that it may have changed again since.
 */
export function lastSpan(
  spans: readonly CallSpan[],
  path: string,
  { since, until }: { since?: number; until: number },
): CallSpan | undefined {
  // A call that had ended when the file was there has not deleted it.
  const mayHave = ({ from, to, paths }: CallSpan) =>
    from <= until &&
    (since === undefined ? until <= to : to > since + CUT_OFF_MS) &&
    (paths?.includes(path) ?? true);
  return spans.filter(mayHave).sort((a, b) => b.from - a.from)[0];
}
