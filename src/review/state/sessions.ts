import { isRunning, sessionStatus } from "../../claude/running-sessions";
import type { JournalRecord, NewRecord, RecordOf } from "../journal/record";
import { CUT_OFF_MS, SLACK_MS, Timeline } from "./spans";

export interface Turn {
  /** The CLI's prompt_id. */
  prompt: string;
  /** From 1, in its session. */
  number: number;
  text: string;
  at: number;
}

/** A prompt of the CLI's own, when an agent in the background has ended (2.1.330). */
const NOTIFICATION = "<task-notification>";

/** A turn that ends with Esc runs no hook (measured with 2.1.330): it counts as ended after this time. */
const SILENT_MS = 10 * 60_000;

/** Keeps the times of this many calls; changes before the first of them may be anyone's. */
const MAX_SPANS = 2_000;

/** A turn of which no end is recorded. */
interface Unended {
  /** The time of its last record, in ms since the epoch. */
  last: number;
  /** Whether Claude works; otherwise only agents or commands still run in the background. */
  works: boolean;
  background: boolean;
  /** The processes of those commands. */
  left?: RecordOf<"stop">["left"];
  /** The CLI that ran its last command. */
  cli?: RecordOf<"begin">["cli"];
}

/** Claude's sessions as the journal has them: their turns, and which of them work. */
export class Sessions {
  readonly #turns = new Map<string, Turn[]>();
  /** By session. */
  readonly unended = new Map<string, Unended>();
  readonly #began = new Map<string, number>();
  readonly #calls = new Timeline();
  readonly #known = new Set<string>();
  /** When the first call that is known began, in ms since the epoch. */
  #knownSince = 0;
  /** The session that did something last. */
  latest: string | undefined;

  static of(records: readonly JournalRecord[]): Sessions {
    const sessions = new Sessions();
    for (const one of records) sessions.take(one);
    return sessions;
  }

  take(record: JournalRecord): void {
    // The changes of a call do not matter here.
    this.#calls.take(record.type === "change" ? { ...record, files: [] } : record);
    this.#forgetCalls();
    if ("use" in record && record.type !== "seen")
      this.#known.add(`${record.session}/${record.use}`);
    switch (record.type) {
      case "prompt":
        this.#prompt(record.session, record.prompt ?? record.id, record.text, record.at);
        break;
      case "begin":
        this.#began.set(record.use, record.at);
        this.#continues(record.session, { last: record.at, cli: record.cli });
        break;
      case "change":
        if (record.files.length > 0) this.latest = record.session;
        this.#continues(record.session, { last: record.at });
        break;
      case "stop":
        if (record.background) {
          const { at: last, left } = record;
          const { cli } = this.unended.get(record.session) ?? {};
          this.unended.set(record.session, { last, works: false, background: true, left, cli });
          break;
        }
        this.unended.delete(record.session);
        break;
      case "end":
        this.unended.delete(record.session);
    }
  }

  #prompt(session: string, prompt: string, text: string, at: number): void {
    const turns = this.#turns.get(session) ?? [];
    const last = turns.at(-1);
    // Without the tags that the CLI puts around what was pasted (2.1.330).
    const typed = text.replaceAll(/<\/?pasted_content[^>]*>/g, "").trim();
    // Later work belongs to the turn that started the agent.
    if (last && text.startsWith(NOTIFICATION)) turns.push({ ...last, prompt });
    else turns.push({ prompt, number: (last?.number ?? 0) + 1, text: typed, at });
    this.#turns.set(session, turns);
    const { background = false } = this.unended.get(session) ?? {};
    this.unended.set(session, { last: at, works: true, background });
    this.latest = session;
  }

  #forgetCalls(): void {
    const { spans } = this.#calls;
    if (spans.length < 2 * MAX_SPANS) return;
    const ended = spans.filter(({ to }) => to !== Number.POSITIVE_INFINITY).slice(0, -MAX_SPANS);
    this.#knownSince = Math.max(this.#knownSince, ...ended.map(({ to }) => to));
    const gone = new Set(ended);
    spans.splice(0, spans.length, ...spans.filter((span) => !gone.has(span)));
  }

  #continues(session: string, more: Partial<Unended>): void {
    const turn = this.unended.get(session);
    if (turn) Object.assign(turn, more);
  }

  turn(session: string, prompt: string | undefined): Turn | undefined {
    return this.#turns.get(session)?.find((turn) => turn.prompt === prompt);
  }

  /** Whether the journal has a record of this call. */
  knows(session: string, use: string): boolean {
    return this.#known.has(`${session}/${use}`);
  }

  lastTurn(session: string): Turn | undefined {
    return this.#turns.get(session)?.at(-1);
  }

  /** The earliest time at which this call, or this turn, can have changed something. */
  since(session: string, use: string | undefined): number {
    const began = use === undefined ? undefined : this.#began.get(use);
    return began ?? this.lastTurn(session)?.at ?? 0;
  }

  /** While a command of Claude's runs, it may be the cause of changes to the repository. */
  isInCall(): boolean {
    return this.#calls.spans.some(({ to }) => to === Number.POSITIVE_INFINITY);
  }

  /** Whether a call ran between two times (ms since the epoch), or may have: the clock may have been set back. */
  wasInCall(from: number, until = Number.POSITIVE_INFINITY): boolean {
    if (from < this.#knownSince || from > Date.now()) return true;
    return this.#calls.spans.some((span) => span.from <= until && span.to > from + CUT_OFF_MS);
  }

  /** Whether a call ran at this time (ms since the epoch). False if the clock was set back since. */
  ranAt(time: number): boolean {
    if (time > Date.now()) return false;
    return this.#calls.spans.some(({ from, to }) => from + SLACK_MS <= time && time < to);
  }

  /** Whether Claude, or something that it started, may change files now. */
  anyRuns(): boolean {
    return this.anyWorks() || this.anyOutlives();
  }

  /** Whether agents, or processes of Claude's commands, still run after their turn. */
  anyOutlives(): boolean {
    return [...this.unended.values()].some(({ background }) => background);
  }

  anyWorks(): boolean {
    return [...this.unended.keys()].some((session) => this.isWorking(session));
  }

  isWorking(session: string): boolean {
    const { works = false, last = 0 } = this.unended.get(session) ?? {};
    return works && Date.now() - last < SILENT_MS;
  }
}

interface Journal {
  sessions: Sessions;
  append(record: NewRecord): JournalRecord;
}

/**
 * Records the end of turns that ended without a hook (measured with 2.1.330): by Esc the CLI says that
 * it is idle, since a time after all that was recorded of the turn; or it was killed. Returns whether there
 * was one; what its last command changed is then to be compared. Throws the system's error.
 */
export function endInterrupted(journal: Journal): boolean {
  const { sessions } = journal;
  let found = false;
  for (const [session, turn] of [...sessions.unended]) {
    const at = endOf(session, turn);
    if (at === undefined) continue;
    journal.append({ type: "stop", session, prompt: sessions.lastTurn(session)?.prompt, at });
    found = true;
  }
  return found;
}

/** Undefined while the turn may go on. If the CLI was killed, a fixed time after its last record. */
function endOf(session: string, { last, works, left, cli }: Unended): number | undefined {
  if (left) return left.some(isRunning) ? undefined : Date.now();
  const state = sessionStatus(session);
  const isKilled = cli ? !isRunning(cli) : state?.status === "ended";
  if (isKilled) return Math.min(Date.now(), last + SILENT_MS);
  const isIdle = state?.status === "idle" && state.since > last && works;
  return isIdle ? state.since : undefined;
}

/**
 * Which commits HEAD named, as the journal has it. It moves by a call of Claude's if it is another one
 * at the call's end; between calls, and at a prompt, the user has moved it.
 */
export class Heads {
  /** The last one that was recorded. */
  last: string | undefined;
  /** The one up to which commits were looked at. */
  from: string | undefined;
  /** When that was, in ms since the epoch. */
  at = 0;
  /** HEAD moved to it between two times while no Neovim looked, and not by a call that was recorded. */
  unsettled: { head: string; from: number; until: number } | undefined;

  take(record: JournalRecord): void {
    if (!("head" in record) || record.head === undefined) return;
    const { head, type, at } = record;
    const from = this.at;
    this.at = at;
    // A commit from before a decision was taken back does not make it again.
    if (type === "keep" || type === "back") return this.settle(head);
    const isUsers = type === "prompt" && this.last !== undefined && head !== this.last;
    if (isUsers) this.unsettled = { head, from: this.unsettled?.from ?? from, until: at };
    else if (head !== this.last && this.unsettled === undefined) this.from = head;
    this.from ??= head;
    this.last = head;
  }

  settle(head: string): void {
    this.last = head;
    this.from = head;
    this.unsettled = undefined;
  }
}
