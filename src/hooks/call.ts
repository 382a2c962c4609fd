import type { Log } from "../lib/log";
import { Binding } from "../locate/binding";
import { findNeovim } from "../locate/find";
import type { HookInput } from "./input";

/** Neovim has begun to answer; a later call only takes longer if it got busy meanwhile. */
const ANSWER_MS = 1_000;
const STEP_MS = 25;

/** By which of our installations a hook was started: one must not undo what another did. */
export type Via = "neovim" | "plugin" | "settings";

/** The CLI's process, which newer versions tell their hooks (measured with 2.1.330). */
export function cliPid(): number | undefined {
  const pid = Number(process.env.CLAUDE_PID);
  return pid > 0 ? pid : undefined;
}

/** One run of a hook: what it was told, and the way to the Neovim it speaks to. */
export class HookCall {
  #ask: ((method: string, params: object) => Promise<unknown>) | undefined;
  #close = () => {};

  constructor(
    readonly input: HookInput,
    readonly via: Via,
    readonly log: Log,
  ) {}

  get cwd(): string {
    return this.input.cwd ?? process.cwd();
  }

  /**
   * Runs a method of `lua/claude-code/editor/session`. Resolves to undefined when there is no
   * Neovim; rejects when it is busy or refuses.
   */
  async ask(method: string, params: object = {}): Promise<unknown> {
    const pid = cliPid();
    const all = {
      session: this.input.session_id,
      via: this.via,
      ...(pid && { pid }),
      ...(this.input.prompt_id && { prompt: this.input.prompt_id }),
      ...params,
    };
    if (this.#ask) return this.#ask(method, all);
    // The project rather than the folder Claude has moved to: all hooks must find the same Neovim.
    const project = process.env.CLAUDE_PROJECT_DIR;
    const places = [...(project ? [project] : []), this.cwd];
    const found = await findNeovim(
      places,
      method,
      all,
      this.log,
      pid ? new Binding(pid) : undefined,
    );
    if (!found) {
      this.log.info(`No Neovim for ${project ?? this.cwd}`);
      this.#ask = async () => undefined;
      return undefined;
    }
    const { plugin, value } = found;
    this.#ask = (next, given) => plugin.call(next, given, ANSWER_MS);
    this.#close = () => plugin.close();
    return value;
  }

  /** Asks again and again until language servers have settled, or `deadlineMs` are over. */
  async whenSettled<T extends { settled: boolean }>(
    first: T | undefined,
    deadlineMs: number,
    again: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const end = performance.now() + deadlineMs;
    let answer = first;
    while (answer && !answer.settled && performance.now() < end) {
      await Bun.sleep(Math.min(STEP_MS, Math.max(1, end - performance.now())));
      answer = await again();
    }
    return answer;
  }

  close(): void {
    this.#close();
  }
}
