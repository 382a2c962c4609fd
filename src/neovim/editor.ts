import * as v from "valibot";
import {
  type EditorPort,
  EVENTS,
  type EventName,
  METHODS,
  type Method,
  type MethodName,
  type Params,
  type Payload,
  type Result,
} from "../editor/methods";
import type { Selection } from "../editor/model";
import { EditorState } from "../editor/state";
import { withDeadline } from "../lib/deadline";
import { Emitter, type Unsubscribe } from "../lib/emitter";
import { Failure, failureCode } from "../lib/errors";
import { own } from "../lib/json";
import type { Log } from "../lib/log";
import { CALL, unlessBusy, unwrap, withoutUndefined } from "./call";
import type { NeovimRpc } from "./rpc";

/** If Neovim takes longer to answer, in ms, it is busy. */
const BUSY_AFTER_MS = 1_000;
const UNFINISHED =
  "Neovim has begun this and has not finished after 10 s: check later whether it was done.";

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

type Identity = { contract: number; version: string };

/** Implements EditorPort by msgpack-RPC with `lua/claude-code/editor`. Neovim reports its state, also on request. */
export class NeovimEditor implements EditorPort {
  readonly state = new EditorState();
  readonly #events = new Map<EventName, Emitter<unknown>>();
  #pulling: Promise<void> | undefined;
  #nextPull: Promise<void> | undefined;
  latestSelection: Selection | undefined;

  /** `folders` are the workspace folders until Neovim reports them. */
  constructor(
    private readonly rpc: NeovimRpc,
    private readonly log: Log,
    folders: string[] = [],
  ) {
    this.state.apply({ folders });
    this.on("state", (delta) => this.state.apply(delta));
    this.on("selection", (selection) => {
      this.latestSelection = selection.path === "" ? undefined : selection;
    });
    rpc.onNotification.on(({ method, args: [event, payload] }) => {
      if (method === "claude_code") this.#receive(String(event), payload);
    });
  }

  on<E extends EventName>(event: E, listener: (payload: Payload<E>) => void): Unsubscribe {
    return this.#emitter(event).on(listener as (payload: unknown) => void);
  }

  /** Registers us with Neovim and gets its whole state. Waits while Neovim is busy. A later `sync` waits for this. */
  attach(identity: Identity): Promise<void> {
    return this.#track(this.#attach(identity));
  }

  async sync(deadlineMs = BUSY_AFTER_MS): Promise<EditorState> {
    await unlessBusy(withDeadline(this.#pull(), deadlineMs, "Neovim"));
    return this.state;
  }

  async refreshSelection(detailed = false): Promise<Selection | undefined> {
    this.latestSelection = await this.call("latest_selection", { detailed, for_client: true });
    return this.latestSelection;
  }

  async call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    const { deadlineMs = BUSY_AFTER_MS, isWork = false }: Method = METHODS[method];
    const args = [CALL, [method, withoutUndefined(params)]];
    if (isWork) await this.sync();
    try {
      const answer = await unlessBusy(this.rpc.request("nvim_exec_lua", args, deadlineMs));
      return checked(method, unwrap(answer));
    } catch (error) {
      throw isWork && failureCode(error) === "busy" ? new Failure(UNFINISHED, "unfinished") : error;
    }
  }

  /**
   * Gets all changes up to this call. At most one question is under way, and all callers in the meantime share the next
   * one. There is no deadline: Neovim reports each change once, so we need the answer even if it is late.
   */
  #pull(): Promise<void> {
    if (!this.#pulling) return this.#track(this.#takeFrom(CALL, ["sync", {}]));
    const again = () => {
      this.#nextPull = undefined;
      return this.#pulling ?? this.#pull();
    };
    this.#nextPull ??= this.#pulling.then(again, again);
    return this.#nextPull;
  }

  async #attach({ contract, version }: Identity): Promise<void> {
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

  /** Applies the Delta that `code` returns as soon as it arrives: a report right after it is newer. */
  async #takeFrom(code: string, args: unknown[]): Promise<void> {
    await this.rpc.request("nvim_exec_lua", [code, args], Number.POSITIVE_INFINITY, (answer) =>
      this.#emit("state", unwrap(answer)),
    );
  }

  #receive(event: string, payload: unknown): void {
    if (own(EVENTS, event) === undefined) {
      return this.log.warn(`Neovim sent an event we do not know: ${event}`);
    }
    try {
      this.#emit(event as EventName, payload);
    } catch (error) {
      this.log.error(`Event ${event} of Neovim failed: ${error}`);
    }
  }

  /** Throws ValiError if the payload violates the contract. */
  #emit(event: EventName, payload: unknown): void {
    this.#emitter(event).emit(v.parse(EVENTS[event], payload));
  }

  #emitter(event: EventName): Emitter<unknown> {
    const emitter = this.#events.get(event) ?? new Emitter();
    this.#events.set(event, emitter);
    return emitter;
  }
}

/** Throws ValiError if the answer violates the contract. */
export function checked<M extends MethodName>(method: M, answer: unknown): Result<M> {
  return v.parse(METHODS[method].result, answer) as Result<M>;
}
