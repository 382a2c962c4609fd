import { EditorBusyError } from "../editor/port";
import { DeadlineError, withDeadline } from "../lib/deadline";
import { unwrap } from "./call";
import { DisconnectedError, NeovimRpc } from "./rpc";

/** The Neovim at an address is not one with our plugin. */
export class NoPluginError extends Error {
  override readonly name = "NoPluginError";

  constructor() {
    super("the plugin is not loaded there");
  }
}

/** Never loads the plugin: a Neovim in which it was not set up is left alone. */
const CALL_IF_LOADED = `
  if not package.loaded["claude-code"] then
    return { absent = true }
  end
  return require("claude-code.editor").call(...)`;

/** How long an answer may take, in ms. */
export interface WaitTimes {
  /** Until language servers have reported. */
  waitMs: number;
  /** In all, while they are busy (the value has `is_busy`). */
  busyMs?: number | undefined;
  /** Neovim itself. */
  answerMs: number;
}

/** A connection of our own to a Neovim that has the plugin, for programs that Claude Code starts. */
export class Plugin {
  readonly #rpc: NeovimRpc;
  #waits = 0;

  private constructor(
    readonly address: string,
    rpc: NeovimRpc,
  ) {
    this.#rpc = rpc;
  }

  /** Rejects when no program listens there. */
  static async connect(address: string, deadlineMs?: number): Promise<Plugin> {
    return new Plugin(address, await NeovimRpc.connect(address, deadlineMs));
  }

  get closed(): boolean {
    return this.#rpc.closed;
  }

  /**
   * Runs a method of `lua/claude-code/editor`. Rejects with NoPluginError, EditorBusyError (no
   * answer in time), EditorRefusal, or DisconnectedError.
   */
  async call(method: string, params: object, deadlineMs: number): Promise<unknown> {
    let answer: unknown;
    try {
      answer = await this.#rpc.request(
        "nvim_exec_lua",
        [CALL_IF_LOADED, [method, params]],
        deadlineMs,
      );
    } catch (error) {
      throw error instanceof DeadlineError ? new EditorBusyError() : error;
    }
    if ((answer as { absent?: boolean } | undefined)?.absent) throw new NoPluginError();
    return unwrap(answer);
  }

  /**
   * Like `call`, for a method whose value has `settled`: Neovim answers once language servers have
   * reported, or when the time is over.
   */
  async callWhenSettled(method: string, params: object, times: WaitTimes): Promise<unknown> {
    const { waitMs, busyMs = waitMs, answerMs } = times;
    const limitMs = Math.max(waitMs, busyMs) + answerMs;
    const id = ++this.#waits;
    const late = this.#lateAnswer(id);
    try {
      const channel = await this.#channel(answerMs);
      const wait = { channel, id, timeout_ms: waitMs, busy_timeout_ms: busyMs, method, params };
      const { answer } = (await this.call("when_settled", wait, answerMs)) as { answer?: unknown };
      return unwrap(answer ?? (await withDeadline(late.answer, limitMs, "Neovim")));
    } catch (error) {
      throw error instanceof DeadlineError ? new EditorBusyError() : error;
    } finally {
      late.stop();
    }
  }

  /** Neovim's number for this connection. */
  async #channel(deadlineMs: number): Promise<number> {
    const info = await this.#rpc.request("nvim_get_chan_info", [0], deadlineMs);
    return (info as { id: number }).id;
  }

  /** The answer that comes as the notification `settled`. */
  #lateAnswer(id: number): { answer: Promise<unknown>; stop: () => void } {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    // Nobody may wait for it yet when the connection ends.
    promise.catch(() => {});
    const offs = [
      this.#rpc.onNotification.on(({ args: [event, payload] }) => {
        const settled = payload as { id?: number; answer?: unknown } | undefined;
        if (event === "settled" && settled?.id === id) resolve(settled.answer);
      }),
      this.#rpc.onClose.on(() => reject(new DisconnectedError())),
    ];
    return { answer: promise, stop: () => offs.forEach((off) => void off()) };
  }

  close(): void {
    this.#rpc.close();
  }
}
