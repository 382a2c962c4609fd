import type { Unsubscribe } from "../lib/emitter";
import type {
  Context,
  Cursor,
  Delta,
  DiffEnd,
  LogEvent,
  Mention,
  Region,
  Selection,
} from "./model";
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

declare const checked: unique symbol;

/**
 * An absolute path in normal form: of a length that can be, and of no special file. Only the functions
 * of `path.ts` make one, and a call to Neovim takes no other. Lua checks again
 * (editor/path_params.lua), and decides what is private.
 */
export type FilePath = string & { readonly [checked]: true };

export interface OpenDiff {
  id: number;
  /** Which client asked, so that each client ends its own diffs only. */
  client: number;
  /** Where that client runs, if not here: for the user, who decides. */
  remote?: string | undefined;
  oldPath: FilePath;
  newPath: FilePath;
  contents: string;
  name?: string | undefined;
}

export interface Prompt {
  pid: number | undefined;
  text: string;
  connected: boolean;
}

export interface OpenDocument {
  path: FilePath;
  /** Plain text to select from, searched from the top. */
  startText?: string | undefined;
  /** Plain text to select to, searched from the start on (spec 4.3). */
  endText?: string | undefined;
  selectToEndOfLine: boolean;
  /** Show it, go there and select, or only load it. */
  front: boolean;
  /** Real paths: EditorRefusal for what was read from elsewhere. */
  folders?: readonly string[] | undefined;
}

export interface OpenedDocument {
  languageId: string;
  lineCount: number;
}

/**
 * The editor as tools, notifications and editor methods see it. Calls reject with EditorBusyError
 * when Neovim does not answer in time and with EditorRefusal when it refuses.
 */
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
  /** The client of this process has these mentions now. */
  mentionsDelivered(ids: readonly number[], pid: number | undefined): Promise<void>;
  /** Queues or shows a diff. Waits as long as Neovim is busy; ends come through `onDiffEnd`. */
  openDiff(diff: OpenDiff): Promise<void>;
  /** Ends diffs without an `onDiffEnd`. Resolves to how many were still open. */
  closeDiffs(ids: readonly number[]): Promise<number>;
  /** Keeps, in a buffer, a text that the user made of a proposal, and that could not be written. */
  keepUnwritten(path: FilePath, text: string, problem: string): Promise<void>;
  openDocument(document: OpenDocument): Promise<OpenedDocument>;
  /**
   * Saves as `:w` does. EditorRefusal "not_open" if no buffer holds the file's text. `problem`: the
   * file is written, but an autocommand failed after that.
   */
  saveDocument(path: FilePath): Promise<{ problem?: string | undefined }>;
  /**
   * The text of an open buffer as `:w` would write it, unsaved changes included. `folders`: real paths;
   * EditorRefusal for what was read from elsewhere.
   */
  readDocument(path: FilePath, folders?: readonly string[]): Promise<string>;
  /** What was last selected in a file, or where the cursor last was in one; as last known. */
  readonly latestSelection: Selection | undefined;
  /**
   * The same after asking Neovim, because it is about to be sent to a client. `detailed` adds
   * `region` and `cursor`.
   */
  refreshSelection(detailed?: boolean): Promise<Selection | undefined>;
  /**
   * The selection, or the cursor, of the file window that the user is in, or was in before they
   * went to a terminal or a list. undefined if there is none, or its file is private. EditorRefusal
   * if the options forbid to report what is selected, here and in `refreshSelection`.
   */
  currentSelection(): Promise<Selection | undefined>;
  /** The same in spec 05's terms; a selection in the current window counts whatever that shows. */
  region(): Promise<Region>;
  /** Where the cursor is. EditorRefusal if that is a private file, a terminal, a list or an explorer. */
  cursor(): Promise<Cursor>;
  /** The cursor with so many lines around it. EditorRefusal as for `cursor`. */
  context(linesBefore: number, linesAfter: number): Promise<Context>;
  /** Length of each buffer in characters, line ends included; 0 if it is not loaded. */
  bufferSizes(bufs: readonly number[]): Promise<number[]>;
  /** A file was written outside: the buffer that shows it takes it over, without any prompt. */
  reloadDocument(path: FilePath): Promise<void>;
  /** A file is about to be written outside: reload its buffer as soon as that happened. */
  watchDocument(path: FilePath): void;
  /**
   * Submits the user's own words as a prompt to the CLI with this process id. `connected`: false if
   * that CLI has gone, so that only the user can send them. Resolves to false if no CLI of this
   * Neovim's terminals is it.
   */
  submitPrompt(prompt: Prompt): Promise<boolean>;
  /** The user's comments that wait to be sent, as one text; they count as sent then. */
  takeComments(): Promise<string>;
  /** Closes a buffer by its path or its last name; never one with unsaved changes (EditorRefusal). */
  closeTab(tab: { path: FilePath } | { name: string }): Promise<void>;
}
