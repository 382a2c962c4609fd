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

/** The CLI writes such a prompt when an agent in the background ends (2.1.330). */
const NOTIFICATION = "<task-notification>";

/** A turn that ends with Esc runs no hook (measured with 2.1.330), so it counts as ended after this time. */
const SILENT_MS = 10 * 60_000;

/** We keep the times of this many calls. Earlier changes may be Claude's or the user's. */
const MAX_SPANS = 2_000;

/** A turn without a recorded end. */
interface Unended {
  /** The time of its last record, in ms since the epoch. */
  last: number;
  /** Whether Claude works; otherwise only agents or commands run in the background. */
  works: boolean;
  background: boolean;
  /** The processes of those commands. */
  left?: RecordOf<"stop">["left"];
  /** The CLI of the turn's last command. */
  cli?: RecordOf<"begin">["cli"];
}

/** The turns of Claude's sessions, and which sessions work, according to the journal. */
export class Sessions {
  readonly #turns = new Map<string, Turn[]>();
  /** By session. */
  readonly unended = new Map<string, Unended>();
  readonly #began = new Map<string, number>();
  readonly #calls = new Timeline();
  readonly #known = new Set<string>();
  /** When the last call ended that we have forgotten, in ms since the epoch. */
  #knownSince = 0;
  /** The session with the last prompt or change. */
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
    // The CLI puts tags around pasted text (2.1.330).
    const typed = text.replaceAll(/<\/?pasted_content[^>]*>/g, "").trim();
    // Work after the notification belongs to the turn that started the agent.
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

  /**
   * The number of the turn of a call; 0 before the journal's first prompt. After a prompt that Claude took into a running
   * turn, calls still have the id of the prompt before it (2.1.332).
   */
  numberOf(session: string, prompt: string | undefined, began: number): number {
    const last = this.#turns.get(session)?.findLast(({ at }) => at <= began);
    return Math.max(last?.number ?? 0, this.turn(session, prompt)?.number ?? 0);
  }

  /** In order. */
  turns(session: string): Turn[] {
    const all = this.#turns.get(session) ?? [];
    return all.filter((turn, i) => turn.number !== all[i - 1]?.number);
  }

  /** Whether the journal has a record of this call. */
  knows(session: string, use: string): boolean {
    return this.#known.has(`${session}/${use}`);
  }

  lastTurn(session: string): Turn | undefined {
    return this.#turns.get(session)?.at(-1);
  }

  /** The earliest time at which this call, or the session's turn, may have changed something. */
  since(session: string, use: string | undefined): number {
    const began = use === undefined ? undefined : this.#began.get(use);
    return began ?? this.lastTurn(session)?.at ?? 0;
  }

  /** Whether one of Claude's commands runs. It may change the repository. */
  isInCall(): boolean {
    return this.#calls.spans.some(({ to }) => to === Number.POSITIVE_INFINITY);
  }

  /** Whether a call ran, or may have run, between two times (ms since the epoch). The clock may have been set back. */
  wasInCall(from: number, until = Number.POSITIVE_INFINITY): boolean {
    if (from < this.#knownSince || from > Date.now()) return true;
    return this.#calls.spans.some((span) => span.from <= until && span.to > from + CUT_OFF_MS);
  }

  /** Whether a call ran at this time (ms since the epoch). False if the clock was set back since. */
  ranAt(time: number): boolean {
    if (time > Date.now()) return false;
    return this.#calls.spans.some(({ from, to }) => from + SLACK_MS <= time && time < to);
  }

  /** Whether Claude, or a process that it started, may change files now. */
  anyRuns(): boolean {
    return this.anyWorks() || this.anyOutlives();
  }

  /** Whether agents or commands run after the end of their turn. */
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

/**
 * Records the end of turns that ended without a hook (measured with 2.1.330). After Esc, the CLI reports that it has been
 * idle since a time after the turn's last record; or the CLI was killed. Returns whether it found such a turn: its last
 * command then needs a comparison. Throws the system's error.
 */
export function endInterrupted(journal: {
  sessions: Sessions;
  append(record: NewRecord): JournalRecord;
}): boolean {
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

/** When the turn ended; undefined while it may continue. For a killed CLI, a fixed time after its last record. */
function endOf(session: string, { last, works, left, cli }: Unended): number | undefined {
  if (left) return left.some(isRunning) ? undefined : Date.now();
  const state = sessionStatus(session);
  const isKilled = cli ? !isRunning(cli) : state?.status === "ended";
  if (isKilled) return Math.min(Date.now(), last + SILENT_MS);
  const isIdle = state?.status === "idle" && state.since > last && works;
  return isIdle ? state.since : undefined;
}

/**
 * Tracks HEAD in the journal. If HEAD moved by the end of a call, Claude moved it; if it moved between calls or by a
 * prompt, the user did.
 */
export class Heads {
  /** The last HEAD in the journal. */
  last: string | undefined;
  /** We have checked all commits up to this one. */
  from: string | undefined;
  /** The time of the last record with a HEAD, in ms since the epoch. */
  at = 0;
  /** The user moved HEAD to this commit between two times, while no Neovim looked. */
  unsettled: { head: string; from: number; until: number } | undefined;

  take(record: JournalRecord): void {
    if (!("head" in record) || record.head === undefined) return;
    const { head, type, at } = record;
    const from = this.at;
    this.at = at;
    // After a decision is taken back, an earlier commit must not make it again.
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
