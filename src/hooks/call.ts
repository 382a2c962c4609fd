import { STABLE_PLUGIN } from "../claude/names";
import type { MethodName, Params, Result } from "../editor/methods";
import type { Log } from "../lib/log";
import { basename, normal } from "../lib/platform";
import { Binding, findNeovim } from "../locate/find";
import { withoutUndefined } from "../neovim/call";
import type { Plugin, WaitTimes } from "../neovim/plugin";
import type { HookInput } from "./input";

/** In ms. Neovim was found to be free, so only a call during other work takes longer. */
const ANSWER_MS = 1_000;
/** In ms. Claude does not wait for Neovim: the user may also answer in Claude's terminal. */
const UNHURRIED_MS = 10_000;

/** The CLI's process id. Newer versions put it into the environment (measured with 2.1.330). */
export function cliPid(): number | undefined {
  const pid = Number(process.env.CLAUDE_PID);
  return pid > 0 ? pid : undefined;
}

/** The number of the terminal's session, in the environment of the CLIs that Neovim starts and of their children. */
export function sessionNumber(): number | undefined {
  const number = Number(process.env.CLAUDE_CODE_NVIM_SESSION);
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

/** Says whether the CLI got our settings with the plugin. It did not if a project's settings enabled the plugin. */
export function hasOurSettings(): boolean {
  const { CLAUDE_PLUGIN_ROOT: folder, CLAUDE_CODE_NVIM_REMOTE: remote } = process.env;
  return Boolean(remote) || (folder !== undefined && basename(folder) !== STABLE_PLUGIN);
}

/** One run of a hook: its input, and the connection to the CLI's Neovim. */
export class HookCall {
  /** Null if there is no Neovim; undefined before we looked. */
  #plugin: Plugin | null | undefined;

  constructor(
    readonly input: HookInput,
    readonly log: Log,
  ) {}

  get cwd(): string {
    return normal(this.input.cwd ?? process.cwd());
  }

  /** Calls a method of Neovim. Resolves to undefined if there is no Neovim; rejects if it is busy or refuses. */
  async ask<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M> | undefined> {
    if (this.#plugin === undefined) this.#plugin = await this.#find();
    return this.#plugin?.call(method, this.#withCommon(params), ANSWER_MS);
  }

  /** Like `ask`, but waits until language servers have reported. Needs an `ask` before it. */
  async askWhenSettled<M extends MethodName>(
    method: M,
    params: Params<M>,
    times: WaitTimes,
  ): Promise<Result<M> | undefined> {
    return this.#plugin?.callWhenSettled(method, this.#withCommon(params), times, ANSWER_MS);
  }

  /** Like `askWhenSettled`, but waits for the user without a limit. Rejects if `signal` aborts or Neovim ends. */
  async askUser<M extends MethodName>(
    method: M,
    params: Params<M>,
    signal: AbortSignal,
  ): Promise<Result<M> | undefined> {
    const times = { limitMs: Number.POSITIVE_INFINITY, answerMs: UNHURRIED_MS, signal };
    return this.#plugin?.callLate(method, this.#withCommon(params), times);
  }

  /** Like `askWhenSettled`, but rejects unless Neovim answers within `limitMs`. */
  async runTask<M extends MethodName>(
    method: M,
    params: Params<M>,
    limitMs: number,
  ): Promise<Result<M> | undefined> {
    return this.#plugin?.runTask(method, this.#withCommon(params), limitMs, ANSWER_MS);
  }

  async #find(): Promise<Plugin | null> {
    const pid = cliPid();
    // All hooks must find the same Neovim, so the project comes before Claude's working folder, which may change.
    const project = process.env.CLAUDE_PROJECT_DIR;
    const places = [...(project ? [project] : []), this.cwd];
    const found = await findNeovim(places, this.log, pid ? new Binding(pid) : undefined);
    if (!found) this.log.info(`No Neovim for ${project ?? this.cwd}`);
    return found ?? null;
  }

  #withCommon<P extends object>(params: P): P {
    return withoutUndefined({
      session: this.input.session_id,
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
