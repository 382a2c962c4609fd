import type { MethodName, Params, Result } from "../editor/methods";
import { resolvePath } from "../editor/path";
import { Failure, failureCode } from "../lib/errors";
import type { Log } from "../lib/log";
import { isAbsolute } from "../lib/platform";
import type { Plugin, WaitTimes } from "../neovim/plugin";
import { Binding, findNeovim } from "./find";

const ANSWER_MS = 2_000;

/**
 * The Neovim of the CLI that started us. We search for it at the first question, and again when it has ended, because
 * Neovim may restart. The CLI's hooks use the same Neovim.
 */
export class FollowedNeovim {
  readonly #binding: Binding;
  #plugin: Plugin | undefined;

  constructor(
    /** The CLI's folders: its project, then our working folder, which is the CLI's. */
    readonly places: readonly string[],
    private readonly log: Log,
    cliPid: number,
  ) {
    this.#binding = new Binding(cliPid);
  }

  /** The absolute paths that a client may mean, the most likely first. Throws Failure for an impossible path. */
  candidates(path: string): string[] {
    const here = this.places.map((place) => resolvePath(path, place));
    // Add the relative path: our answers name files from Neovim's folder.
    return [...new Set(isAbsolute(path) ? here : [...here, path])];
  }

  /** Runs a method of the plugin. Rejects with Failure. */
  ask<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    return this.#again((plugin) => plugin.call(method, params, ANSWER_MS));
  }

  /** Like `ask`, but waits until language servers have reported (`settled`). */
  askWhenSettled<M extends "problems" | "session_problems">(
    method: M,
    params: Params<M>,
    times: WaitTimes,
  ): Promise<Result<M>> {
    return this.#again(async (plugin) => {
      const first = await plugin.call(method, params, ANSWER_MS);
      return first.settled ? first : plugin.callWhenSettled(method, params, times, ANSWER_MS);
    });
  }

  /** Runs a method that waits up to `limitMs` for language servers (see `Plugin.runTask`). */
  async runTask<M extends MethodName>(
    method: M,
    params: Params<M>,
    limitMs: number,
    signal?: AbortSignal,
  ): Promise<Result<M>> {
    const plugin = await this.#neovim();
    return plugin.runTask(method, params, limitMs, ANSWER_MS, signal);
  }

  /** Asks again if Neovim ends during the call. */
  async #again<T>(ask: (plugin: Plugin) => Promise<T>): Promise<T> {
    try {
      return await ask(await this.#neovim());
    } catch (error) {
      if (failureCode(error) !== "gone") throw error;
      return ask(await this.#neovim());
    }
  }

  async #neovim(): Promise<Plugin> {
    this.#plugin = this.#current() ?? (await findNeovim(this.places, this.log, this.#binding));
    if (this.#plugin) return this.#plugin;
    throw new Failure(
      `No Neovim with claude-code.nvim is open for ${this.places[0]}. ` +
        "Open the project in Neovim (and run :Claude if the server is stopped), then try again.",
    );
  }

  #current(): Plugin | undefined {
    const plugin = this.#plugin;
    if (!plugin || plugin.closed) return undefined;
    const bound = this.#binding.address();
    if (!bound || bound === plugin.address) return plugin;
    plugin.close();
    return undefined;
  }

  close(): void {
    this.#plugin?.close();
  }
}
