import type { JournalRecord, RecordOf } from "../journal/record";

/** A time in which a call of Claude's may have changed files, in ms since the epoch. */
export interface CallSpan {
  from: number;
  /** Infinity: the call still runs. */
  to: number;
  /** It runs while its session works: what it changes is not complete. */
  isOpen: boolean;
  call: RecordOf<"begin"> | RecordOf<"change">;
}

/** The clock of the file system lags behind by up to a tick (4-10 ms). */
const SLACK_MS = 50;
/** So late the hook of a call that has ended may record it. */
const LATE_MS = 2_000;
/** A record's time has whole milliseconds, a file's has parts of them. */
const CUT_OFF_MS = 1;

/**
 * When Bash and MCP tools ran. A call without an end ends with its turn: with the next prompt (the user
 * pressed Esc, for which there is no hook: then with the time since when the CLI was idle), or with a stop; but with a stop that leaves agents or
 * commands running it only counts as complete so far.
 */
export function spansOf(records: readonly JournalRecord[]): CallSpan[] {
  const begun = new Map<string, CallSpan>();
  const ended = new Map<string, CallSpan & { call: RecordOf<"change"> }>();
  const spans: CallSpan[] = [];
  const endAll = (session: string, at: number, idle = 0) => {
    for (const [use, span] of begun) {
      if (span.call.session !== session) continue;
      span.to = idle >= span.call.at ? idle + SLACK_MS : at + CUT_OFF_MS;
      span.isOpen = false;
      begun.delete(use);
    }
  };
  const background = new Set<string>();
  for (const record of records) {
    if (record.type === "begin") {
      const span = { from: record.at - SLACK_MS, to: Infinity, isOpen: true, call: record };
      const late = ended.get(record.use);
      if (late) {
        late.from = startOf(span, late.call);
      } else {
        begun.set(record.use, span);
        spans.push(span);
      }
    } else if (record.type === "change" && record.source === "bash") {
      const { use = "" } = record;
      const begin = begun.get(use);
      const from = startOf(begin, record);
      if (begin) spans.splice(spans.indexOf(begin), 1);
      begun.delete(use);
      const span = { from, to: record.at + CUT_OFF_MS, isOpen: false, call: record };
      ended.set(use, span);
      spans.push(span);
    } else if (record.type === "stop" && record.background) {
      background.add(record.session);
      for (const span of begun.values()) {
        if (span.call.session === record.session) span.isOpen = false;
      }
    } else if (record.type === "stop" || record.type === "end") {
      background.delete(record.session);
      endAll(record.session, record.at);
    } else if (record.type === "prompt" && !background.has(record.session)) {
      endAll(record.session, record.at, record.idle);
    }
  }
  return spans;
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

/** The call that began last of those that may have changed a file at `time`. */
export function spanAt(spans: readonly CallSpan[], time: number): CallSpan | undefined {
  const around = spans.filter((span) => span.from <= time && time <= span.to);
  return around.sort((a, b) => b.from - a.from)[0];
}

/**
 * The call that began last of those that may have deleted a file between two times. Only the folder
 * shows when, and that it may have changed again since.
 */
export function spanBefore(
  spans: readonly CallSpan[],
  after: number,
  before: number,
): CallSpan | undefined {
  // A call that had ended when the file was there has not deleted it.
  const between = spans.filter((span) => span.from <= before && span.to > after + CUT_OFF_MS);
  return between.sort((a, b) => b.from - a.from)[0];
}
