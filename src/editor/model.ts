/**
 * Neovim's reports of itself, as plain data. Lines and columns are 0-based, columns count UTF-16 code units (as LSP and
 * VS Code do), unless a field says otherwise. Paths are absolute.
 */
import * as v from "valibot";

declare const checked: unique symbol;

/**
 * An absolute path in normal form: of a length that can be, and of no special file. Only the functions of `path.ts`
 * make one, and a call to Neovim takes no other. Lua checks again (editor/path_params.lua), and decides what is
 * private.
 */
export type FilePath = string & { readonly [checked]: true };

const Position = v.object({ line: v.number(), character: v.number() });
export type Position = v.InferOutput<typeof Position>;

/** The unit in which a language server counts columns (LSP 3.17, `positionEncoding`). */
export type Encoding = "utf-8" | "utf-16" | "utf-32";

/** One diagnostic of a buffer. `severity` as in LSP: 1 error, 2 warning, 3 information, 4 hint. */
export const Diagnostic = v.object({
  lnum: v.number(),
  col: v.number(),
  end_lnum: v.number(),
  end_col: v.number(),
  severity: v.picklist([1, 2, 3, 4]),
  message: v.string(),
  source: v.optional(v.string()),
  code: v.optional(v.string()),
});
export type Diagnostic = v.InferOutput<typeof Diagnostic>;

const Buffer = v.object({
  buf: v.number(),
  /** As Neovim has it: a full path for files, anything for the rest. */
  name: v.string(),
  /** Only for file buffers ('buftype' empty and named). */
  path: v.optional(v.string()),
  /** Files of other names from which its text may be. */
  sources: v.optional(v.array(v.string())),
  filetype: v.string(),
  listed: v.boolean(),
  loaded: v.boolean(),
  modified: v.boolean(),
});
export type EditorBuffer = v.InferOutput<typeof Buffer>;

/** The cursor of the current window: `line` and `position` 1-based, `column` 0-based, in characters. */
export const Cursor = v.object({
  line: v.number(),
  column: v.number(),
  position: v.number(),
  name: v.string(),
  path: v.optional(v.string()),
  total_lines: v.number(),
});
export type Cursor = v.InferOutput<typeof Cursor>;

/** The selection in the terms of spec 05 (see src/methods/index.ts). */
export const Region = v.object({
  active: v.boolean(),
  start: v.optional(v.number()),
  end: v.optional(v.number()),
  text: v.optional(v.string()),
  /** The text was cut at 100,000 bytes; the ends were not. */
  truncated: v.optional(v.boolean()),
  line_start: v.optional(v.number()),
  line_end: v.optional(v.number()),
  column_start: v.optional(v.number()),
  column_end: v.optional(v.number()),
});
export type Region = v.InferOutput<typeof Region>;

export const Selection = v.object({
  /** Empty when no file is selected any more: the last one was closed. */
  path: v.string(),
  text: v.string(),
  start: Position,
  /** Just behind the last selected character. */
  end: Position,
  /** Nothing is selected: `start` and `end` are the cursor. */
  empty: v.boolean(),
  /** The text was cut at 100,000 bytes; the ends were not. */
  truncated: v.optional(v.boolean()),
  /** The same in spec 05's terms, and the cursor's place; only where they were asked for. */
  region: v.optional(Region),
  cursor: v.optional(Cursor),
});
export type Selection = v.InferOutput<typeof Selection>;

/** The changes since the last Delta; a field that is absent did not change. */
export const Delta = v.object({
  /** Replaces all that was known before. */
  full: v.optional(v.boolean()),
  buffers: v.optional(v.array(Buffer)),
  removed: v.optional(v.array(v.number())),
  /** The whole list of each buffer named, empty when it has none any more. */
  diagnostics: v.optional(
    v.array(v.object({ buf: v.number(), path: v.string(), items: v.array(v.unknown()) })),
  ),
  /** Workspace folders, real paths; the current working directory comes first. */
  folders: v.optional(v.array(v.string())),
  /** Buffer of the current window. */
  current: v.optional(v.number()),
  /** Files written or reloaded whose language servers have not reported since. */
  pending: v.optional(v.array(v.string())),
});
export type Delta = Omit<v.InferOutput<typeof Delta>, "diagnostics"> & {
  diagnostics?: { buf: number; path: string; items: Diagnostic[] }[] | undefined;
};

/** How a diff that was shown in the editor ended. `text`: what the user has made of the proposal. */
export const DiffEnd = v.object({
  id: v.number(),
  outcome: v.picklist(["accepted", "rejected"]),
  text: v.optional(v.string()),
  /** Why the user rejected it, for the model. */
  reason: v.optional(v.string()),
});
export type DiffEnd = v.InferOutput<typeof DiffEnd>;

/** `path` with the 0-based lines the user pointed at, none for the whole file or folder. */
export const Mention = v.object({
  id: v.number(),
  path: v.string(),
  line_start: v.optional(v.number()),
  line_end: v.optional(v.number()),
  /** Process of the CLI that the user works with, if there are several. */
  pid: v.optional(v.number()),
});
export type Mention = v.InferOutput<typeof Mention>;

/** The lines around the cursor, joined by LF; `line` 1-based, `column` 0-based in characters. */
export const Context = v.object({
  line: v.number(),
  column: v.number(),
  before: v.string(),
  after: v.string(),
  text: v.string(),
  filetype: v.string(),
  function_name: v.optional(v.string()),
});
export type Context = v.InferOutput<typeof Context>;

/** An action of the user in the plugin, for a client that keeps statistics (spec 03, 5.4). */
export const LogEvent = v.object({
  name: v.string(),
  data: v.record(v.string(), v.unknown()),
});
export type LogEvent = v.InferOutput<typeof LogEvent>;

/** The diagnostics of one file. */
export interface FileProblems {
  /** As Neovim has it. */
  path: string;
  /** Symlinks resolved. */
  real: string;
  items: Diagnostic[];
}

export interface Problems {
  /** Workspace folders, real paths; the current working directory comes first. */
  folders: string[];
  files: FileProblems[];
  /** No report of a language server on what was written last is pending. */
  settled: boolean;
  /** The files whose reports are missing, and why; for files that are named, and those of a session. */
  unknown?: string;
}

/** One line with what is wrong on it and the lines around it; line numbers are 1-based. */
export interface ProblemContext {
  items: Diagnostic[];
  lines: string[];
  start_line: number;
  filetype: string;
}
