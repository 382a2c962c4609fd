import type { MethodName, Params, Result } from "../editor/methods";
import { withDeadline } from "../lib/deadline";
import { Failure } from "../lib/errors";
import { sharedFolders } from "../lib/paths";
import { unlessBusy, unwrap } from "./call";
import { NeovimRpc } from "./rpc";

/** Never loads the plugin: a Neovim in which it was not set up is left alone. */
const CALL_IF_LOADED = `
  if not package.loaded["claude-code"] then
    return { absent = true }
  end
  return require("claude-code.editor").call(...)`;

/** How long language servers may take, in ms. */
export interface WaitTimes {
  /** Until they have reported. */
  waitMs: number;
  /** In all, while they are busy (the value has `is_busy`). */
  busyMs?: number;
}

/** How long a late answer may take, in ms. */
interface LateTimes {
  limitMs: number;
  /** Neovim itself. */
  answerMs: number;
  /** Aborts when no one wants the answer any more. */
  signal?: AbortSignal | undefined;
}

/** A connection of our own to a Neovim that has the plugin, for programs that Claude Code starts. */
export class Plugin {
  /** Neovim leaves out files outside of these folders, if we work for a Claude elsewhere. */
  readonly #shared = sharedFolders();
  #waits = 0;

  private constructor(
    readonly address: string,
    private readonly rpc: NeovimRpc,
  ) {}

  /** Rejects when no program listens there. */
  static async connect(address: string): Promise<Plugin> {
    return new Plugin(address, await NeovimRpc.connect(address));
  }

  get closed(): boolean {
    return this.rpc.closed;
  }

  /**
   * Runs a method of `lua/claude-code/editor`. Rejects with Failure "no_plugin", "busy" (no answer in time), "gone", or
   * the plugin's own.
   */
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

  /**
   * Like `call`, for a method whose value has `settled`: Neovim answers once language servers have reported, or when
   * the time is over. `answerMs`: how long Neovim itself may take.
   */
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

  /** Like `call`, for a method that waits for language servers or the user, as a task of at most `timeoutMs`. */
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
   * Like `call`, for a method that Neovim answers at once, or by the notification `settled`. When `signal` aborts,
   * Neovim takes back what it has asked language servers; the promise rejects then.
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
    // No one may wait for it yet when the connection ends.
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
