/**
 * The executable calls METHODS of Neovim, and Neovim sends EVENTS. `src/commands/neovim-requests.ts` has Neovim's own
 * requests. test/neovim/methods.test.ts compares all three with the plugin.
 *
 * The server checks results with their schemas; hooks and the stdio server use only the types. A call rejects with
 * Failure: "busy" if Neovim does not answer in time, or another code if it refuses.
 */
import * as v from "valibot";
import type { Unsubscribe } from "../lib/emitter";
import { HOOK_METHODS } from "./hook-methods";
import type { OutlineAnswer, SymbolAnswer } from "./language";
import {
  Context,
  Cursor,
  Delta,
  DiffEnd,
  type FilePath,
  LogEvent,
  Mention,
  type ProblemContext,
  type Problems,
  Region,
  Selection,
} from "./model";
import type { EditorState } from "./state";

export interface Method {
  readonly params: v.GenericSchema;
  readonly result: v.GenericSchema;
  /** If Neovim takes longer, it is busy. The default is a second. */
  readonly deadlineMs?: number;
  /** The method has effects. We send it only if Neovim is not busy, so that they do not come late. */
  readonly isWork?: boolean;
}

/** For calls that must happen, however long Neovim is busy. */
const FOREVER = Number.POSITIVE_INFINITY;
/** The limit of work in Neovim, which includes autocommands of other plugins. */
const WORK_MS = 10_000;
/** For reports, which wait while Neovim asks the user something. */
const REPORT_MS = 30_000;

/** `path.ts` checks paths, and Lua does again (editor/path_params.lua). */
const Path = v.string() as unknown as v.GenericSchema<FilePath>;
const Nothing = v.object({});
/** For results that only hooks or the stdio server request, which do not check them. */
const unchecked = <T>() => v.custom<T>(() => true);
const AtPath = v.object({ path: Path });
/** Real paths. Neovim refuses a file whose text comes from outside of them. */
const Folders = v.optional(v.array(v.string()));

/** A report to Neovim, which its sender in `src/` defines. */
const report = (deadlineMs: number) =>
  ({ params: v.custom<object>(() => true), result: v.unknown(), deadlineMs }) as const;

/** The id of a Claude session, and of the CLI's process. */
const Session = v.object({ session: v.optional(v.string()), pid: v.number() });
/** The client's name of a file, the paths that it may mean, and the changes in the project since the last question. */
const Question = {
  file: v.optional(v.array(v.string())),
  named: v.optional(v.string()),
  changes: unchecked<unknown>(),
};
const Named = { symbol: v.string(), line: v.optional(v.number()) };

export const METHODS = {
  /** Queues or shows a diff. The event `diff_ended` reports its end. */
  diff_open: {
    params: v.object({
      id: v.number(),
      /** The client that asked, so that a client can end only its own diffs. */
      client: v.number(),
      /** The remote of the client. The user sees it. */
      remote: v.optional(v.string()),
      old_path: Path,
      new_path: Path,
      contents: v.string(),
      name: v.optional(v.string()),
    }),
    result: v.unknown(),
    deadlineMs: FOREVER,
  },
  /** Ends diffs without an event. */
  diff_close: {
    params: v.object({ ids: v.array(v.number()) }),
    result: v.unknown(),
    deadlineMs: FOREVER,
  },
  /** Keeps the user's version of a proposal in a buffer, because it could not be written. */
  diff_unwritten: {
    params: v.object({ path: Path, text: v.string(), problem: v.string() }),
    result: v.unknown(),
    deadlineMs: FOREVER,
  },
  document_open: {
    params: v.object({
      path: Path,
      /** If true, shows the file, focuses it and selects; if false, only loads it. */
      front: v.boolean(),
      /** The selection starts at this plain text. */
      start_text: v.optional(v.string()),
      /** The selection ends with this plain text after the start (spec 4.3). */
      end_text: v.optional(v.string()),
      select_to_eol: v.boolean(),
      folders: Folders,
    }),
    result: v.object({ language_id: v.string(), line_count: v.number() }),
    deadlineMs: WORK_MS,
    isWork: true,
  },
  /**
   * Saves as `:w` does. Failure "not_open" if no buffer has the file's text. `problem` says that the file was written,
   * but an autocommand failed after that.
   */
  document_save: {
    params: AtPath,
    result: v.object({ problem: v.optional(v.string()) }),
    deadlineMs: WORK_MS,
    isWork: true,
  },
  /** The text that `:w` would write. */
  document_text: { params: v.object({ path: Path, shared: Folders }), result: v.string() },
  /** Another program has written a file. Its buffer loads the file without a prompt. */
  document_reload: { params: AtPath, result: v.unknown(), deadlineMs: WORK_MS },
  /** Another program is about to write a file. Its buffer loads it as soon as that happens. */
  document_watch: { params: AtPath, result: v.unknown(), deadlineMs: WORK_MS },
  /** Closes a buffer by its path or the last part of it. Failure if it has unsaved changes. */
  tab_close: {
    params: v.union([AtPath, v.object({ name: v.string() })]),
    result: v.unknown(),
    deadlineMs: WORK_MS,
    isWork: true,
  },

  /**
   * The selection, or the cursor, in the user's last file window; terminals and lists do not count. Undefined without
   * such a window, or if its file is private. This and `latest_selection` fail if the options forbid reporting it.
   */
  selection: { params: Nothing, result: v.optional(Selection) },
  /** The last selection in any file. `detailed` adds `region` and `cursor`. */
  latest_selection: {
    params: v.object({ detailed: v.boolean(), for_client: v.literal(true) }),
    result: v.optional(Selection),
  },
  /** The selection in the format of spec 05. The current window counts even if it shows no file. */
  region: { params: Nothing, result: Region },
  /** Failure if the cursor is in a private file, a terminal, a list or an explorer. */
  cursor: { params: Nothing, result: Cursor },
  /** The cursor and the lines around it. Fails as `cursor` does. */
  context: {
    params: v.object({ lines_before: v.number(), lines_after: v.number() }),
    result: Context,
  },
  /** The length of each buffer in characters, with line ends; 0 if it is not loaded. */
  buffer_sizes: {
    params: v.object({ bufs: v.array(v.number()) }),
    result: v.array(v.number()),
  },
  /** The whole state that `sync` reports, for programs that are not attached. */
  snapshot: { params: Nothing, result: Delta },
  ping: { params: Nothing, result: v.literal(true) },
  /** `EditorReport` of `src/doctor/`. */
  report: { params: Nothing, result: v.unknown() },

  /** All files with problems, or the named files. `load` includes files of the workspace that are not open. */
  problems: {
    params: v.object({
      /** The paths that each name may mean, the likeliest first. */
      files: v.optional(unchecked<readonly (readonly string[])[]>()),
      load: v.optional(v.boolean()),
    }),
    result: unchecked<Problems>(),
  },
  /** A line, with `count` lines before and after it. Failure "not_open" or "no_line". */
  problem_context: {
    params: v.object({
      file: unchecked<readonly string[]>(),
      line: v.number(),
      count: v.number(),
    }),
    result: unchecked<ProblemContext>(),
  },
  /** The problems of the files that the session has edited since it last stopped. */
  session_problems: { params: Session, result: unchecked<Problems>() },
  /** Language servers have changed files for a session. They count as its edits, if its hooks report to this Neovim. */
  session_changed: {
    params: v.object({
      ...Session.entries,
      edits: v.array(v.object({ path: v.string(), created: v.boolean() })),
    }),
    result: v.object({ session: v.optional(v.string()) }),
  },

  find_symbol: {
    params: v.object({ ...Question, ...Named }),
    result: unchecked<SymbolAnswer>(),
  },
  find_references: {
    params: v.object({
      ...Question,
      ...Named,
      relation: v.picklist(["references", "implementations"]),
    }),
    result: unchecked<SymbolAnswer>(),
  },
  /** The declarations of a file. */
  outline: { params: v.object(Question), result: unchecked<OutlineAnswer>() },
  /** Return edits of language servers: `EditAnswer` of `src/nvim-lsp/edits/`, which applies them. */
  rename_symbol: { params: unchecked<object>(), result: v.unknown() },
  code_action: { params: unchecked<object>(), result: v.unknown() },
  edits_apply: { params: unchecked<object>(), result: v.unknown() },

  ...HOOK_METHODS,

  /** Says that we accept clients: `claude-code.ReadyInfo`. */
  ready: report(FOREVER),
  clients: report(FOREVER),
  sessions_changed: report(FOREVER),
  lock_problem: report(FOREVER),
  /** Answers a request of Neovim, with its `id`, and a `value` or an `error`. */
  request_answer: report(FOREVER),
  review_changed: report(REPORT_MS),
  transcript_news: report(REPORT_MS),
  transcript_changed: report(REPORT_MS),
  /** The answer that Claude writes now: `session`, its whole `text` so far, and whether it is `done`. */
  answer_written: report(REPORT_MS),
  remote_state: report(REPORT_MS),
} as const satisfies Record<string, Method>;

/** Sent by `lua/claude-code/server/channel.lua`. */
export const EVENTS = {
  /** We do not check each diagnostic: there may be ten thousand, and Lua made them. */
  state: Delta as unknown as v.GenericSchema<unknown, Delta>,
  diff_ended: DiffEnd,
  selection: Selection,
  mention: Mention,
  /** Mentions that no client took in time. */
  mentions_withdrawn: v.object({ ids: v.array(v.number()) }),
  log_event: LogEvent,
  /** We answer with `request_answer`. `method` is AREA/METHOD. */
  request: v.object({ id: v.number(), method: v.string(), params: v.unknown() }),
} as const;

export type EventName = keyof typeof EVENTS;
export type Payload<E extends EventName> = v.InferOutput<(typeof EVENTS)[E]>;

type Methods = typeof METHODS;
export type MethodName = keyof Methods;
export type Params<M extends MethodName> = v.InferInput<Methods[M]["params"]>;
export type Result<M extends MethodName> = v.InferOutput<Methods[M]["result"]>;

/** The editor, as tools and notifications use it. */
export interface EditorPort {
  /** The last known state. Call `sync` first if it must be up to date. */
  readonly state: EditorState;
  /** The last known selection, or cursor, in a file. */
  readonly latestSelection: Selection | undefined;
  on<E extends EventName>(event: E, listener: (payload: Payload<E>) => void): Unsubscribe;
  /** Brings `state` up to date. */
  sync(deadlineMs?: number): Promise<EditorState>;
  /** Calls a method of Neovim, with the deadline in METHODS. */
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
  /** Updates `latestSelection`. `detailed` adds `region` and `cursor`. */
  refreshSelection(detailed?: boolean): Promise<Selection | undefined>;
}
