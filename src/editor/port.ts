import type { Unsubscribe } from "../lib/emitter";
import type { MethodName, Params, Result } from "./methods";
import type { Delta, DiffEnd, LogEvent, Mention, Selection } from "./model";
import type { EditorState } from "./state";

/** Neovim did not take the call in time: it shows a prompt, sleeps or runs something long. */
export class EditorBusyError extends Error {
  override readonly name = "EditorBusyError";

  constructor() {
    super(
      "Neovim is busy (it may be waiting for a key or running a command). " +
        "Nothing was changed; try again in a moment.",
    );
  }
}

/** An expected failure that Lua reports in a sentence for the user. */
export class EditorRefusal extends Error {
  override readonly name = "EditorRefusal";

  constructor(
    message: string,
    /** A stable word for the cause, such as "not_open". */
    readonly code?: string,
  ) {
    super(message);
  }
}

/** The editor as tools, notifications and editor methods see it. Calls reject as `methods.ts` says. */
export interface EditorPort {
  /** What was last known; call `sync` first where it must be what is true now. */
  readonly state: EditorState;
  readonly onDelta: { on(listener: (delta: Delta) => void): Unsubscribe };
  readonly onDiffEnd: { on(listener: (end: DiffEnd) => void): Unsubscribe };
  readonly onSelection: { on(listener: (selection: Selection) => void): Unsubscribe };
  readonly onMention: { on(listener: (mention: Mention) => void): Unsubscribe };
  readonly onMentionsWithdrawn: { on(listener: (ids: readonly number[]) => void): Unsubscribe };
  readonly onLogEvent: { on(listener: (event: LogEvent) => void): Unsubscribe };

  /** Brings `state` up to date. */
  sync(deadlineMs?: number): Promise<EditorState>;
  /** Neovim's answer; it waits as long as the table says. */
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
  /** What was last selected in a file, or where the cursor last was in one; as last known. */
  readonly latestSelection: Selection | undefined;
  /**
   * The same after asking Neovim, because it is about to be sent to a client. `detailed` adds
   * `region` and `cursor`.
   */
  refreshSelection(detailed?: boolean): Promise<Selection | undefined>;
}
