import type { MethodName, Params, Result } from "../editor/methods";
import type { Log } from "../lib/log";
import { Binding, findNeovim } from "../locate/find";
import { withoutUndefined } from "../neovim/call";
import type { Plugin, WaitTimes } from "../neovim/plugin";
import type { HookInput } from "./input";

/** Neovim has begun to answer; a later call only takes longer if it got busy since. */
const ANSWER_MS = 1_000;
/** No one waits for Neovim there: what the user answers, they may answer in Claude's terminal, too. */
const UNHURRIED_MS = 10_000;

/** The one of our installations that started a hook: one must not undo what another did. */
export type Installation = "neovim" | "plugin" | "settings";

/** The CLI's process, which newer versions put into the environment (measured with 2.1.330). */
export function cliPid(): number | undefined {
  const pid = Number(process.env.CLAUDE_PID);
  return pid > 0 ? pid : undefined;
}

/**
 * The number of the terminal's session, which Neovim puts into the environment of a CLI that it starts,
 * and which every CLI that this one starts inherits, too.
 */
export function sessionNumber(): number | undefined {
  const number = Number(process.env.CLAUDE_CODE_NVIM_SESSION);
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

/** One run of a hook: its input, and the way to the Neovim that the CLI works with. */
export class HookCall {
  /** Null: there is none. */
  #plugin: Plugin | null | undefined;

  constructor(
    readonly input: HookInput,
    readonly installation: Installation,
    readonly log: Log,
  ) {}

  get cwd(): string {
    return this.input.cwd ?? process.cwd();
  }

  /**
   * Runs a method of `lua/claude-code/editor/turn_check`. Resolves to undefined when there is no
   * Neovim; rejects when it is busy or refuses.
   */
  async ask<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M> | undefined> {
    if (this.#plugin === undefined) this.#plugin = await this.#find();
    return this.#plugin?.call(method, this.#withCommon(params), ANSWER_MS);
  }

  /** Like `ask`, for a later call: waits until language servers have reported. */
  async askWhenSettled<M extends MethodName>(
    method: M,
    params: Params<M>,
    times: WaitTimes,
  ): Promise<Result<M> | undefined> {
    return this.#plugin?.callWhenSettled(method, this.#withCommon(params), times, ANSWER_MS);
  }

  /**
   * Like `ask`, for a later call that the user answers, whenever that is. Rejects when `signal` aborts,
   * or Neovim is gone.
   */
  async askUser<M extends MethodName>(
    method: M,
    params: Params<M>,
    signal: AbortSignal,
  ): Promise<Result<M> | undefined> {
    const times = { limitMs: Number.POSITIVE_INFINITY, answerMs: UNHURRIED_MS, signal };
    return this.#plugin?.callLate(method, this.#withCommon(params), times);
  }

  /** Like `ask`, for a later call that Neovim answers within `limitMs`; rejects after that. */
  async runTask<M extends MethodName>(
    method: M,
    params: Params<M>,
    limitMs: number,
  ): Promise<Result<M> | undefined> {
    return this.#plugin?.runTask(method, this.#withCommon(params), limitMs, ANSWER_MS);
  }

  async #find(): Promise<Plugin | null> {
    const pid = cliPid();
    // The project rather than the folder Claude has moved to: all hooks must find the same Neovim.
    const project = process.env.CLAUDE_PROJECT_DIR;
    const places = [...(project ? [project] : []), this.cwd];
    const found = await findNeovim(places, this.log, pid ? new Binding(pid) : undefined);
    if (!found) this.log.info(`No Neovim for ${project ?? this.cwd}`);
    return found ?? null;
  }

  #withCommon<P extends object>(params: P): P {
    return withoutUndefined({
      session: this.input.session_id,
      installation: this.installation,
      cwd: this.cwd,
      pid: cliPid(),
      n: sessionNumber(),
      remote: process.env.CLAUDE_CODE_NVIM_REMOTE || undefined,
      prompt: this.input.prompt_id || undefined,
      ...params,
    });
  }

  close(): void {
    this.#plugin?.close();
  }
}
