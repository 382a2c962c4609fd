import type { MethodName, Params, Result } from "../editor/methods";
import { withDeadline } from "../lib/deadline";
import { Failure } from "../lib/errors";
import { sharedFolders } from "../lib/paths";
import { unlessBusy, unwrap } from "./call";
import { NeovimRpc } from "./rpc";

/** Does not load the plugin into a Neovim in which it was not set up. */
const CALL_IF_LOADED = `
  if not package.loaded["claude-code"] then
    return { absent = true }
  end
  return require("claude-code.editor").call(...)`;

/** Limits for language servers, in ms. */
export interface WaitTimes {
  /** They must report within this time. */
  waitMs: number;
  /** The limit while they are busy (the value has `is_busy`). */
  busyMs?: number;
}

/** Limits for a late answer, in ms. */
interface LateTimes {
  limitMs: number;
  /** Neovim must react to each call within this time. */
  answerMs: number;
  /** Aborts when the answer is no longer necessary. */
  signal?: AbortSignal | undefined;
}

/** The connection of a program that Claude Code starts to a Neovim with the plugin. */
export class Plugin {
  /** If we work for a remote, Neovim leaves out files outside of these folders. */
  readonly #shared = sharedFolders();
  #waits = 0;

  private constructor(
    readonly address: string,
    private readonly rpc: NeovimRpc,
  ) {}

  /** Rejects if no program listens at the address. */
  static async connect(address: string): Promise<Plugin> {
    return new Plugin(address, await NeovimRpc.connect(address));
  }

  get closed(): boolean {
    return this.rpc.closed;
  }

  /** Calls a method of `lua/claude-code/editor`. Rejects with Failure "no_plugin", "busy", "gone", or another one. */
  async call<M extends MethodName>(
    method: M,
    params: Params<M>,
    deadlineMs: number,
  ): Promise<Result<M>> {
    return (await this.#send(method, params, deadlineMs)) as Result<M>;
  }

  async #send(method: string, params: object, deadlineMs: number): Promise<unknown> {
    const shared = this.#shared && { shared: this.#shared };
    const args = [CALL_IF_LOADED, [method, { ...params, ...shared }]];
    const answer = await unlessBusy(this.rpc.request("nvim_exec_lua", args, deadlineMs));
    if ((answer as { absent?: boolean } | undefined)?.absent) {
      throw new Failure("the plugin is not loaded there", "no_plugin");
    }
    return unwrap(answer);
  }

  /** Like `call`, for a method with `settled`. Waits until language servers have reported, or the time is over. */
  callWhenSettled<M extends MethodName>(
    method: M,
    params: Params<M>,
    { waitMs, busyMs = waitMs }: WaitTimes,
    answerMs: number,
  ): Promise<Result<M>> {
    const limitMs = Math.max(waitMs, busyMs) + answerMs;
    const wait = { timeout_ms: waitMs, busy_timeout_ms: busyMs, method, params };
    return this.callLate("when_settled", wait, { limitMs, answerMs });
  }

  /** Like `call`, for a method that waits for language servers or the user for up to `timeoutMs`. */
  runTask<M extends MethodName>(
    method: M,
    params: Params<M>,
    timeoutMs: number,
    answerMs: number,
    signal?: AbortSignal,
  ): Promise<Result<M>> {
    const task = { timeout_ms: timeoutMs, method, params };
    return this.callLate("task_start", task, { limitMs: timeoutMs + answerMs, answerMs, signal });
  }

  /**
   * Like `call`, for a method that Neovim answers at once or, later, by the notification `settled`. Rejects when
   * `signal` aborts, and Neovim then cancels its requests to language servers.
   */
  async callLate<R>(
    method: string,
    params: object,
    { limitMs, answerMs, signal }: LateTimes,
  ): Promise<R> {
    const id = ++this.#waits;
    const info = await unlessBusy(this.rpc.request("nvim_get_chan_info", [0], answerMs));
    const { id: channel } = info as { id: number };
    const late = Promise.withResolvers<unknown>();
    // The connection may end before anything awaits the promise.
    late.promise.catch(() => {});
    const offs = [
      this.rpc.onNotification.on(({ args: [event, payload] }) => {
        const settled = payload as { id?: number; answer?: unknown } | undefined;
        if (event === "settled" && settled?.id === id) late.resolve(settled.answer);
      }),
      this.rpc.onClose.on(() => late.reject(new Failure("Neovim is gone", "gone"))),
    ];
    const cancel = () => {
      this.#send("task_cancel", { channel, id }, answerMs).catch(() => {});
      late.reject(new Error("cancelled"));
    };
    try {
      signal?.throwIfAborted();
      signal?.addEventListener("abort", cancel);
      const request = { ...params, channel, id };
      const { answer } = (await this.#send(method, request, answerMs)) as { answer?: unknown };
      const given = answer ?? (await unlessBusy(withDeadline(late.promise, limitMs, "Neovim")));
      return unwrap(given) as R;
    } finally {
      signal?.removeEventListener("abort", cancel);
      for (const off of offs) off();
    }
  }

  close(): void {
    this.rpc.close();
  }
}
