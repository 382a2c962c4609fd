import type { Unsubscribe } from "../lib/emitter";
import type { EventName, MethodName, Params, Payload, Result } from "./methods";
import type { Selection } from "./model";
import type { EditorState } from "./state";

/** The editor as tools, notifications and editor methods see it. */
export interface EditorPort {
  /** What was last known; call `sync` first where it must be what is true now. */
  readonly state: EditorState;
  /** What was last selected in a file, or where the cursor last was in one; as last known. */
  readonly latestSelection: Selection | undefined;
  on<E extends EventName>(event: E, listener: (payload: Payload<E>) => void): Unsubscribe;
  /** Brings `state` up to date. */
  sync(deadlineMs?: number): Promise<EditorState>;
  /** Neovim's answer; it waits as long as the table says, and rejects as that says. */
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
  /** Asks for `latestSelection`, which is about to be sent. `detailed` adds `region` and `cursor`. */
  refreshSelection(detailed?: boolean): Promise<Selection | undefined>;
}
