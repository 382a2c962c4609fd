import type { JournalRecord, RecordOf } from "../journal/record";

/** The time in which one of Claude's calls may have changed files, in ms since the epoch. */
export interface CallSpan {
  from: number;
  /** Infinity while the call runs. */
  to: number;
  /** Whether the call runs and its session works, so that more changes may follow. */
  isOpen: boolean;
  call: RecordOf<"begin"> | RecordOf<"change">;
  /** The only files that the call may have changed. Set for hooks that format an editing tool's file. */
  paths?: readonly string[];
}

/** The file system's clock may be late by a tick (4-10 ms). */
export const SLACK_MS = 50;
/** The hook may record the end of a call this late. */
const LATE_MS = 2_000;
/** A hook that formats a file may take this long. */
const FORMAT_MS = 10_000;
/** A record's time has whole milliseconds, a file's time has fractions. */
export const CUT_OFF_MS = 1;

/**
 * Returns when Bash and MCP tools ran, shell lines of skills, and hooks that format an editing tool's file. A skill's
 * lines end with the next call. Any other call without a recorded end ends with its turn: with a stop, or with the next
 * prompt. After Esc, which runs no hook, it ends when the CLI became idle.
 * If a stop leaves agents or commands running, the call continues, but is no longer open.
 */
export function spansOf(records: readonly JournalRecord[]): CallSpan[] {
  const timeline = new Timeline();
  for (const record of records) timeline.take(record);
  return [...timeline.spans, ...afterEdits(records)];
}

/** The spans of the user's hooks that may format edited files. They end with the turn. */
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

/** Collects the spans of records, which it must get in order. */
export class Timeline {
  readonly spans: CallSpan[] = [];
  /** Calls without a recorded end, by `use`. */
  readonly #begun = new Map<string, CallSpan>();
  /** Calls with a recorded end, by `use`. The record of a call's beginning may follow. */
  readonly #ended = new Map<string, CallSpan & { call: RecordOf<"change"> }>();
  /** Sessions whose turn has ended while agents or commands still run. */
  readonly #background = new Set<string>();
  /** The call that began or ended last, by session. */
  readonly #last = new Map<string, CallSpan["call"]>();

  take(record: JournalRecord): void {
    const { type } = record;
    const isCall = type === "begin" || (type === "change" && record.source === "bash");
    if (isCall) this.#last.set(record.session, record);
    if (type === "begin" || type === "change") this.#endSkillBefore(record);
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

  /** Processes that commands left behind count as the last command. */
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

  /** The CLI runs the lines of one skill concurrently. */
  #endSkillBefore(record: CallSpan["call"]): void {
    if (record.type === "begin" ? record.skill : record.source === "trees") return;
    for (const [use, span] of this.#begun) {
      const { call } = span;
      const isOfSkill = call.type === "begin" && call.skill;
      if (!isOfSkill || call.session !== record.session || call.agent !== record.agent) continue;
      span.to = record.at + CUT_OFF_MS;
      span.isOpen = false;
      this.#begun.delete(use);
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
 * The first hook runs before the CLI asks the user for permission, and the call's duration does not include the user's
 * answer (measured with 2.1.330). Both hooks may start late.
 */
function startOf(begin: CallSpan | undefined, { began, at }: RecordOf<"change">): number {
  const measured = (began ?? at) - SLACK_MS;
  if (!begin) return measured;
  if (began === undefined) return begin.from;
  return Math.max(Math.min(begin.from, measured), began - LATE_MS);
}

/**
 * Among the calls that may have changed the file at `until`, the one that began last. With `since`, the file is absent,
 * and was deleted between both times: only the time of its folder, which may have changed again, limits when.
 */
export function lastSpan(
  spans: readonly CallSpan[],
  path: string,
  { since, until }: { since?: number; until: number },
): CallSpan | undefined {
  // A call that ended while the file still existed has not deleted it.
  const mayHave = ({ from, to, paths }: CallSpan) =>
    from <= until &&
    (since === undefined ? until <= to : to > since + CUT_OFF_MS) &&
    (paths?.includes(path) ?? true);
  return spans.filter(mayHave).sort((a, b) => b.from - a.from)[0];
}
