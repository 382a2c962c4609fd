/**
 * Everything that passes between the executable and Neovim: METHODS, which the executable calls, and EVENTS, which
 * Neovim sends. test/neovim/methods.test.ts compares both with the plugin, and so the requests of Neovim, whose
 * table is `src/commands/neovim-requests.ts`.
 *
 * The server checks results by their schema; hooks and the stdio server have only its type. A call rejects with
 * EditorBusyError if Neovim does not answer in time, and with Failure if it refuses.
 */
import * as v from "valibot";
import type { Unsubscribe } from "../lib/emitter";
import type { OutlineAnswer, SymbolAnswer } from "./language";
import {
  Context,
  Cursor,
  Delta,
  Diagnostic,
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
  /** Longer means that Neovim is busy; a second where the method does not say. */
  readonly deadlineMs?: number;
  /** It has effects, and is not sent at all unless Neovim answers, so that it never happens late. */
  readonly isWork?: boolean;
}

/** Something has to happen, however long Neovim is busy. */
const FOREVER = Number.POSITIVE_INFINITY;
/** How long something may take that Neovim has begun, autocommands of other plugins included. */
const WORK_MS = 10_000;
/** Neovim may be asking its user something. */
const REPORT_MS = 30_000;

/** Checked by `path.ts`, and once more by Lua (editor/path_params.lua). */
const Path = v.string() as unknown as v.GenericSchema<FilePath>;
const Nothing = v.object({});
/** A result that only hooks or the stdio server ask for, and that no one checks. */
const unchecked = <T>() => v.custom<T>(() => true);
const AtPath = v.object({ path: Path });
/** Real paths: Failure for what was read from elsewhere. */
const Folders = v.optional(v.array(v.string()));

/** A report to Neovim. The room in `src/` that sends it defines it. */
const report = (deadlineMs: number) =>
  ({ params: v.custom<object>(() => true), result: v.unknown(), deadlineMs }) as const;

/** A Claude session's id, and the CLI's process. */
const Session = v.object({ session: v.optional(v.string()), pid: v.number() });
/** A file as the client named it with the paths that it may have, and what has changed in the project before. */
const Question = {
  file: v.optional(v.array(v.string())),
  named: v.optional(v.string()),
  changes: unchecked<unknown>(),
};
const Named = { symbol: v.string(), line: v.optional(v.number()) };
/** A file was edited, or made. */
const Edit = v.object({ path: v.string(), created: v.boolean() });

export const METHODS = {
  /** Queues or shows a diff; its end comes as the event `diff_ended`. */
  diff_open: {
    params: v.object({
      id: v.number(),
      /** Which client asked, so that each client ends its own diffs only. */
      client: v.number(),
      /** The place of that client, if not here: for the user, who decides. */
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
  /** Keeps, in a buffer, a text that the user made of a proposal, and that could not be written. */
  diff_unwritten: {
    params: v.object({ path: Path, text: v.string(), problem: v.string() }),
    result: v.unknown(),
    deadlineMs: FOREVER,
  },
  document_open: {
    params: v.object({
      path: Path,
      /** Show it, go there and select, or only load it. */
      front: v.boolean(),
      /** Plain text to select from, searched from the top. */
      start_text: v.optional(v.string()),
      /** Plain text to select to, searched from the start on (spec 4.3). */
      end_text: v.optional(v.string()),
      select_to_eol: v.boolean(),
      folders: Folders,
    }),
    result: v.object({ language_id: v.string(), line_count: v.number() }),
    deadlineMs: WORK_MS,
    isWork: true,
  },
  /**
   * Saves as `:w` does. Failure "not_open" if no buffer holds the file's text. `problem`: the file is written, but an
   * autocommand failed after that.
   */
  document_save: {
    params: AtPath,
    result: v.object({ problem: v.optional(v.string()) }),
    deadlineMs: WORK_MS,
    isWork: true,
  },
  /** The text of an open buffer as `:w` would write it, unsaved changes included. */
  document_text: { params: v.object({ path: Path, shared: Folders }), result: v.string() },
  /** A file was written outside: the buffer that shows it takes it over, without any prompt. */
  document_reload: { params: AtPath, result: v.unknown(), deadlineMs: WORK_MS },
  /** A file is about to be written outside: reload its buffer as soon as that happened. */
  document_watch: { params: AtPath, result: v.unknown(), deadlineMs: WORK_MS },
  /** Closes a buffer by its path or its last name; never one with unsaved changes (Failure). */
  tab_close: {
    params: v.union([AtPath, v.object({ name: v.string() })]),
    result: v.unknown(),
    deadlineMs: WORK_MS,
    isWork: true,
  },

  /**
   * The selection, or the cursor, of the file window that the user is in, or was in before they went to a terminal or a
   * list. Undefined if there is none, or its file is private. Failure if the options forbid to report what is selected,
   * here and in `latest_selection`.
   */
  selection: { params: Nothing, result: v.optional(Selection) },
  /** The last one in any file. `detailed` adds `region` and `cursor`. */
  latest_selection: {
    params: v.object({ detailed: v.boolean(), for_client: v.literal(true) }),
    result: v.optional(Selection),
  },
  /** The selection in spec 05's terms; one in the current window counts whatever that shows. */
  region: { params: Nothing, result: Region },
  /** Failure if it is in a private file, a terminal, a list or an explorer. */
  cursor: { params: Nothing, result: Cursor },
  /** The cursor with so many lines around it. Failure as for `cursor`. */
  context: {
    params: v.object({ lines_before: v.number(), lines_after: v.number() }),
    result: Context,
  },
  /** Length of each buffer in characters, line ends included; 0 if it is not loaded. */
  buffer_sizes: {
    params: v.object({ bufs: v.array(v.number()) }),
    result: v.array(v.number()),
  },
  /** All that `sync` knows, for one that is not attached. */
  snapshot: { params: Nothing, result: Delta },
  ping: { params: Nothing, result: v.literal(true) },
  /** `EditorReport` of `src/doctor/`. */
  report: { params: Nothing, result: v.unknown() },

  /** All files with problems, or the named ones; with `load` those of the workspace that are not open, too. */
  problems: {
    params: v.object({
      /** The paths that each may have, most likely first. */
      files: v.optional(unchecked<readonly (readonly string[])[]>()),
      load: v.optional(v.boolean()),
    }),
    result: unchecked<Problems>(),
  },
  /** A line and `count` lines before and behind it. Failure "not_open" or "no_line". */
  problem_context: {
    params: v.object({
      file: unchecked<readonly string[]>(),
      line: v.number(),
      count: v.number(),
    }),
    result: unchecked<ProblemContext>(),
  },
  /** The files that the session has edited since it last stopped. */
  session_problems: { params: Session, result: unchecked<Problems>() },
  /** Language servers changed files for a session: these count as edited by it, if its hooks report here. */
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
  /** Edits of language servers: `EditAnswer` of `src/nvim-lsp/edits/`, which also makes them. */
  rename_symbol: { params: unchecked<object>(), result: v.unknown() },
  code_action: { params: unchecked<object>(), result: v.unknown() },
  edits_apply: { params: unchecked<object>(), result: v.unknown() },

  // Hooks send whose they are with each call: HookCall in `src/hooks/call.ts`.
  session_start: { params: v.object({ source: v.optional(v.string()) }), result: v.unknown() },
  session_finish: { params: Nothing, result: v.unknown() },
  /** `report`: whether Claude must see new problems now; the hook waits for them until `timeout_ms`. */
  session_edited: {
    params: Edit,
    result: v.object({ report: v.boolean(), timeout_ms: v.number() }),
  },
  /** The problems of a file since its last edit; all of them if the state before was not `known`. */
  session_new_problems: {
    params: Edit,
    result: v.object({ settled: v.boolean(), known: v.boolean(), items: v.array(Diagnostic) }),
  },
  /** The problems of the files that the session has edited; none if it has edited none. */
  session_summary: {
    params: Nothing,
    result: v.optional(
      v.object({
        settled: v.boolean(),
        /** Why reports of language servers are missing: "gopls is still indexing". */
        unknown: v.optional(v.string()),
        /** "Claude 2 (docs)", if several run in this Neovim. */
        session: v.optional(v.string()),
        may_block: v.boolean(),
        timeout_ms: v.number(),
        /** In all, while language servers start or index. */
        busy_timeout_ms: v.number(),
        retries: v.number(),
        blocked: v.number(),
        errors: v.number(),
        warnings: v.number(),
        others: v.number(),
        worst: v.array(v.object({ path: v.string(), item: Diagnostic })),
      }),
    ),
  },
  session_blocked: { params: Nothing, result: v.unknown() },
  /** Claude may stop. `waited`: the hook, for language servers; `unknown`: for the user, if in vain. */
  session_allowed: {
    params: v.object({ waited: v.optional(v.literal(true)) }),
    result: v.object({ unknown: v.optional(v.string()) }),
  },
  /** `text`: what the file is about to have. */
  edit_is_held: {
    params: v.object({ path: v.string(), text: v.optional(v.string()) }),
    result: v.optional(v.boolean()),
  },
  /** Waits for the user's unsaved edits of the file. */
  edit_hold: { params: v.object({ path: v.string() }), result: v.unknown() },
  permission_wanted: {
    params: v.object({ plan: v.optional(v.string()) }),
    result: v.boolean(),
  },
  /** The user's answer, if there is one. */
  permission_request: {
    params: unchecked<object>(),
    result: v.optional(
      v.object({
        allow: v.boolean(),
        /** Which of the CLI's suggestions is allowed with it, from 1 on. */
        suggestion: v.optional(v.number()),
        /** Why not, for Claude. */
        reason: v.optional(v.string()),
        /** One for each question: numbers of options, from 1 on, or a text of the user's own. */
        replies: v.optional(
          v.array(
            v.object({
              options: v.optional(v.array(v.number())),
              text: v.optional(v.string()),
            }),
          ),
        ),
        /** The plan as the user has edited it, and how Claude continues. */
        plan: v.optional(v.string()),
        mode: v.optional(v.picklist(["default", "acceptEdits"])),
      }),
    ),
  },
  /** Opens a file for a CLI whose $VISUAL we are. True once it was written, and closed. */
  prompt_edit: {
    params: v.object({
      path: v.string(),
      kind: v.string(),
      n: v.optional(v.number()),
      line: v.optional(v.number()),
    }),
    result: v.unknown(),
  },

  /** The client of this process has these mentions now. */
  mentions_delivered: {
    params: v.object({ ids: v.array(v.number()), pid: v.optional(v.number()) }),
    result: v.unknown(),
    deadlineMs: FOREVER,
  },
  /**
   * Submits the user's own words as a prompt to the CLI with this process id. `connected`: false if that CLI has gone,
   * so that only the user can send them. True if it is a CLI of this Neovim's terminals.
   */
  prompt_submit: {
    params: v.object({
      pid: v.optional(v.number()),
      text: v.string(),
      connected: v.boolean(),
    }),
    result: v.optional(v.boolean()),
    deadlineMs: FOREVER,
  },
  /** The user's comments that wait to be sent, as one text; they count as sent then. */
  review_comments: { params: Nothing, result: v.string() },

  /** We accept clients: `claude-code.ReadyInfo`. */
  ready: report(FOREVER),
  clients: report(FOREVER),
  sessions_changed: report(FOREVER),
  lock_problem: report(FOREVER),
  /** To a request of Neovim's: `id`, and a `value` or an `error`. */
  request_answer: report(FOREVER),
  review_changed: report(REPORT_MS),
  transcript_news: report(REPORT_MS),
  transcript_changed: report(REPORT_MS),
  remote_state: report(REPORT_MS),
} as const satisfies Record<string, Method>;

/** Sent by `lua/claude-code/server/channel.lua`. */
export const EVENTS = {
  /** Diagnostics are not checked one by one: there may be ten thousand, and Lua made them. */
  state: Delta as unknown as v.GenericSchema<unknown, Delta>,
  diff_ended: DiffEnd,
  selection: Selection,
  mention: Mention,
  /** Mentions that no client took in time. */
  mentions_withdrawn: v.object({ ids: v.array(v.number()) }),
  log_event: LogEvent,
  /** Answered by `request_answer`; `method` is AREA/METHOD. */
  request: v.object({ id: v.number(), method: v.string(), params: v.unknown() }),
} as const;

export type EventName = keyof typeof EVENTS;
export type Payload<E extends EventName> = v.InferOutput<(typeof EVENTS)[E]>;

type Methods = typeof METHODS;
export type MethodName = keyof Methods;
export type Params<M extends MethodName> = v.InferInput<Methods[M]["params"]>;
export type Result<M extends MethodName> = v.InferOutput<Methods[M]["result"]>;

/** The editor as tools, notifications and editor methods see it. */
export interface EditorPort {
  /** The state as last known; call `sync` first if it must be up to date. */
  readonly state: EditorState;
  /** The last selection, or cursor, in a file; as last known. */
  readonly latestSelection: Selection | undefined;
  on<E extends EventName>(event: E, listener: (payload: Payload<E>) => void): Unsubscribe;
  /** Brings `state` up to date. */
  sync(deadlineMs?: number): Promise<EditorState>;
  /** Neovim's answer; it waits as long as the table says, and rejects as that says. */
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
  /** Asks for `latestSelection`, which is about to be sent. `detailed` adds `region` and `cursor`. */
  refreshSelection(detailed?: boolean): Promise<Selection | undefined>;
}
