import * as v from "valibot";
import { METHODS, type Method, type MethodName, type Params, type Result } from "../editor/methods";
import {
  type Delta,
  DiffEnd,
  LogEvent,
  Mention,
  Selection,
  WithdrawnMentions,
} from "../editor/model";
import { EditorBusyError, type EditorPort, EditorRefusal } from "../editor/port";
import type { EditorState } from "../editor/state";
import { withDeadline } from "../lib/deadline";
import { Emitter } from "../lib/emitter";
import type { Log } from "../lib/log";
import { realPath } from "../lib/paths";
import { CALL, unlessBusy, unwrap, withoutUndefined } from "./call";
import { NeovimRequest } from "./requests";
import type { NeovimRpc } from "./rpc";
import { type ExecutableIdentity, StateMirror } from "./state-mirror";

/** How long Neovim may take to answer at all; longer means that it is busy. */
const BUSY_AFTER_MS = 1_000;
const UNFINISHED =
  "Neovim has begun this and has not finished after 10 s: check later whether it was done.";

/** EditorPort over msgpack-RPC with `lua/claude-code/editor`. */
export class NeovimEditor implements EditorPort {
  readonly onDelta: Emitter<Delta>;
  readonly onDiffEnd = new Emitter<DiffEnd>();
  readonly onSelection = new Emitter<Selection>();
  readonly onMention = new Emitter<Mention>();
  readonly onMentionsWithdrawn = new Emitter<readonly number[]>();
  readonly onLogEvent = new Emitter<LogEvent>();
  readonly onRequest = new Emitter<NeovimRequest>();
  readonly #mirror: StateMirror;
  latestSelection: Selection | undefined;

  /** `folders`: the workspace folders, as far as they are known before Neovim reports them. */
  constructor(
    private readonly rpc: NeovimRpc,
    private readonly log: Log,
    folders: string[] = [],
  ) {
    this.#mirror = new StateMirror(rpc, folders);
    this.onDelta = this.#mirror.onDelta;
    rpc.onNotification.on(({ method, args }) => {
      if (method === "claude_code") this.#receive(String(args[0]), args[1]);
    });
  }

  get state(): EditorState {
    return this.#mirror.state;
  }

  /** Makes us known to Neovim and takes its whole state. Waits as long as Neovim is busy. */
  attach(identity: ExecutableIdentity): Promise<void> {
    return this.#mirror.attach(identity);
  }

  async sync(deadlineMs = BUSY_AFTER_MS): Promise<EditorState> {
    await unlessBusy(withDeadline(this.#mirror.pull(), deadlineMs, "Neovim"));
    return this.state;
  }

  async refreshSelection(detailed = false): Promise<Selection | undefined> {
    this.latestSelection = await this.call("latest_selection", { detailed, for_client: true });
    return this.latestSelection;
  }

  loadedFiles(): string[] {
    const paths = this.state.buffers.flatMap(({ loaded, path }) => (loaded && path ? [path] : []));
    return paths.map((path) => realPath(path));
  }

  async call<M extends MethodName>(
    method: M,
    params: Params<M>,
    deadlineMs?: number,
  ): Promise<Result<M>> {
    const { deadlineMs: usualMs = BUSY_AFTER_MS, isWork = false }: Method = METHODS[method];
    const args = [CALL, [method, withoutUndefined(params)]];
    if (isWork) await this.sync();
    const ask = () => this.rpc.request("nvim_exec_lua", args, deadlineMs ?? usualMs);
    try {
      return checked(method, unwrap(await unlessBusy(ask())));
    } catch (error) {
      throw isWork && error instanceof EditorBusyError ? new EditorRefusal(UNFINISHED) : error;
    }
  }

  #select(selection: Selection): void {
    this.latestSelection = selection.path === "" ? undefined : selection;
    this.onSelection.emit(selection);
  }

  #receive(event: string, payload: unknown): void {
    try {
      switch (event) {
        case "state":
          return this.#mirror.take(payload);
        case "diff_ended":
          return this.onDiffEnd.emit(v.parse(DiffEnd, payload));
        case "selection":
          return this.#select(v.parse(Selection, payload));
        case "mention":
          return this.onMention.emit(v.parse(Mention, payload));
        case "mentions_withdrawn":
          return this.onMentionsWithdrawn.emit(v.parse(WithdrawnMentions, payload).ids);
        case "log_event":
          return this.onLogEvent.emit(v.parse(LogEvent, payload));
        case "request":
          return this.onRequest.emit(v.parse(NeovimRequest, payload));
        default:
          this.log.warn(`Neovim sent an event we do not know: ${event}`);
      }
    } catch (error) {
      this.log.error(`Event ${event} of Neovim failed: ${error}`);
    }
  }
}

/** Neovim's answer, once its shape was checked. */
export function checked<M extends MethodName>(method: M, answer: unknown): Result<M> {
  return v.parse(METHODS[method].result, answer) as Result<M>;
}
