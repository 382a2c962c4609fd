import { EditorBusyError } from "../editor/port";
import { DeadlineError } from "../lib/deadline";
import { unwrap } from "./call";
import { NeovimRpc } from "./rpc";

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

/** A connection of our own to a Neovim that has the plugin, for programs that Claude Code starts. */
export class Plugin {
  readonly #rpc: NeovimRpc;

  private constructor(
    readonly address: string,
    rpc: NeovimRpc,
  ) {
    this.#rpc = rpc;
  }

  /** Rejects when nobody listens there. */
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

  close(): void {
    this.#rpc.close();
  }
}
