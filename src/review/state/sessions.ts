import type { JournalRecord } from "../journal/record";

export interface Turn {
  /** The CLI's prompt_id. */
  prompt: string;
  /** From 1, in its session. */
  number: number;
  text: string;
  at: number;
}

/** A turn that ends with Esc runs no hook (measured with 2.1.330): after so long it counts as ended. */
const SILENT_MS = 10 * 60_000;

/** Claude's sessions as the journal has them: their turns, and which of them work. */
export class Sessions {
  readonly #turns = new Map<string, Turn[]>();
  /** When the last record of a turn came that has not ended. */
  readonly #working = new Map<string, number>();
  readonly #began = new Map<string, number>();
  /** The session that did something last. */
  latest: string | undefined;

  take(record: JournalRecord): void {
    switch (record.type) {
      case "prompt":
        this.#prompt(record.session, record.prompt ?? record.id, record.text, record.at);
        break;
      case "begin":
        this.#began.set(record.use, record.at);
        this.#continues(record.session, record.at);
        break;
      case "change":
        if (record.files.length > 0) this.latest = record.session;
        this.#continues(record.session, record.at);
        break;
      case "stop":
      case "end":
        this.#working.delete(record.session);
    }
  }

  #prompt(session: string, prompt: string, text: string, at: number): void {
    const turns = this.#turns.get(session) ?? [];
    turns.push({ prompt, number: turns.length + 1, text, at });
    this.#turns.set(session, turns);
    this.#working.set(session, at);
    this.latest = session;
  }

  #continues(session: string, at: number): void {
    if (this.#working.has(session)) this.#working.set(session, at);
  }

  turn(session: string, prompt: string | undefined): Turn | undefined {
    return this.#turns.get(session)?.find((turn) => turn.prompt === prompt);
  }

  lastTurn(session: string): Turn | undefined {
    return this.#turns.get(session)?.at(-1);
  }

  /** Since when a change of this call, or of this turn, can have happened. */
  since(session: string, use: string | undefined): number {
    const began = use === undefined ? undefined : this.#began.get(use);
    return began ?? this.lastTurn(session)?.at ?? 0;
  }

  anyWorks(): boolean {
    return [...this.#working.keys()].some((session) => this.isWorking(session));
  }

  isWorking(session: string, now = Date.now()): boolean {
    const at = this.#working.get(session);
    return at !== undefined && now - at < SILENT_MS;
  }
}
