import * as v from "valibot";
import { Delta } from "../editor/model";
import { EditorState } from "../editor/state";
import { Emitter } from "../lib/emitter";
import { CALL, unwrap } from "./call";
import type { NeovimRpc } from "./rpc";

const ATTACH = `
  local params = ...
  for _, channel in ipairs(vim.api.nvim_list_chans()) do
    local client = channel.client
    if client and client.attributes and client.attributes.pid == params.pid then
      params.channel = channel.id
    end
  end
  params.pid = tonumber(params.pid)
  return require("claude-code.editor").call("attach", params)`;

export interface ExecutableIdentity {
  contract: number;
  version: string;
}

/** Neovim's state as last known: it pushes changes, and answers with them when asked. */
export class StateMirror {
  readonly state = new EditorState();
  readonly onDelta = new Emitter<Delta>();
  #pulling: Promise<void> | undefined;
  #nextPull: Promise<void> | undefined;

  /** `folders`: the workspace folders, as far as they are known before Neovim reports them. */
  constructor(
    private readonly rpc: NeovimRpc,
    folders: string[],
  ) {
    this.state.apply({ folders });
  }

  /**
   * Makes us known to Neovim and takes its whole state. Waits as long as Neovim is busy, and who asks
   * for the state in the meantime waits for this.
   */
  attach(identity: ExecutableIdentity): Promise<void> {
    return this.#track(this.#attach(identity));
  }

  /**
   * Takes what has changed until after this call. One question is under way at most, and all who
   * come in the meantime share the next: a crowd is not a load for Neovim. There is no deadline here,
   * since Neovim reports each change once: an answer that comes late has to be taken all the same.
   */
  pull(): Promise<void> {
    if (!this.#pulling) return this.#track(this.#takeFrom(CALL, ["sync", {}]));
    const again = () => {
      this.#nextPull = undefined;
      return this.#pulling ?? this.pull();
    };
    this.#nextPull ??= this.#pulling.then(again, again);
    return this.#nextPull;
  }

  /** Takes a Delta. Throws valibot's error for anything else. */
  take(value: unknown): void {
    const delta = v.parse(Delta, value) as Delta;
    this.state.apply(delta);
    this.onDelta.emit(delta);
  }

  async #attach({ contract, version }: ExecutableIdentity): Promise<void> {
    const pid = String(process.pid);
    const named = this.rpc.request("nvim_set_client_info", [
      "claude-code-nvim",
      { major: 0, minor: 0, patch: 0 },
      "remote",
      {},
      { pid, license: "MIT" },
    ]);
    const attached = this.#takeFrom(ATTACH, [{ pid, contract, version }]);
    await named;
    await attached;
  }

  #track(taken: Promise<void>): Promise<void> {
    const pulling = taken.finally(() => {
      this.#pulling = undefined;
    });
    this.#pulling = pulling;
    return pulling;
  }

  /** Takes the Delta that `code` answers at once: what is pushed right behind it is newer. */
  async #takeFrom(code: string, args: unknown[]): Promise<void> {
    await this.rpc.request("nvim_exec_lua", [code, args], Number.POSITIVE_INFINITY, (answer) =>
      this.take(unwrap(answer)),
    );
  }
}
