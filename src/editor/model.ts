/**
 * Neovim's reports on itself, as plain data. Unless a field says otherwise, lines and columns are 0-based, and columns
 * count UTF-16 code units, as in LSP and VS Code. Paths are absolute.
 */
import * as v from "valibot";

declare const checked: unique symbol;

/**
 * An absolute path in normal form, which is not too long and not that of a special file. Only `path.ts` makes these,
 * and calls to Neovim require them. Lua checks them again (editor/path_params.lua), and decides which files are
 * private.
 */
export type FilePath = string & { readonly [checked]: true };

const Position = v.object({ line: v.number(), character: v.number() });
export type Position = v.InferOutput<typeof Position>;

/** The unit in which a language server counts columns (LSP 3.17, `positionEncoding`). */
export type Encoding = "utf-8" | "utf-16" | "utf-32";

/** `severity` is that of LSP: 1 error, 2 warning, 3 information, 4 hint. */
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
  /** Neovim's name: the full path of a file, or any text. */
  name: v.string(),
  /** Only for files: the buffer has a name, and its 'buftype' is empty. */
  path: v.optional(v.string()),
  /** Other files from which the text may come. */
  sources: v.optional(v.array(v.string())),
  filetype: v.string(),
  listed: v.boolean(),
  loaded: v.boolean(),
  modified: v.boolean(),
});
export type EditorBuffer = v.InferOutput<typeof Buffer>;

/** `line` and `position` are 1-based, `column` is 0-based. They count characters. */
export const Cursor = v.object({
  line: v.number(),
  column: v.number(),
  position: v.number(),
  name: v.string(),
  path: v.optional(v.string()),
  total_lines: v.number(),
});
export type Cursor = v.InferOutput<typeof Cursor>;

/** The selection in the format of spec 05 (see src/methods/index.ts). */
export const Region = v.object({
  active: v.boolean(),
  start: v.optional(v.number()),
  end: v.optional(v.number()),
  text: v.optional(v.string()),
  /** The text was cut at 100,000 bytes. The positions are those of the whole selection. */
  truncated: v.optional(v.boolean()),
  line_start: v.optional(v.number()),
  line_end: v.optional(v.number()),
  column_start: v.optional(v.number()),
  column_end: v.optional(v.number()),
});
export type Region = v.InferOutput<typeof Region>;

export const Selection = v.object({
  /** Empty if the last file was closed. */
  path: v.string(),
  text: v.string(),
  start: Position,
  /** The position after the last selected character. */
  end: Position,
  /** Nothing is selected: `start` and `end` are the cursor. */
  empty: v.boolean(),
  /** The text was cut at 100,000 bytes. The positions are those of the whole selection. */
  truncated: v.optional(v.boolean()),
  /** The selection in the format of spec 05, and the cursor, only on request. */
  region: v.optional(Region),
  cursor: v.optional(Cursor),
});
export type Selection = v.InferOutput<typeof Selection>;

/** The changes since the last Delta. A missing field has not changed. */
export const Delta = v.object({
  /** The Delta has the whole state. */
  full: v.optional(v.boolean()),
  buffers: v.optional(v.array(Buffer)),
  removed: v.optional(v.array(v.number())),
  /** All diagnostics of each buffer that has changed. */
  diagnostics: v.optional(
    v.array(v.object({ buf: v.number(), path: v.string(), items: v.array(v.unknown()) })),
  ),
  /** Workspace folders, real paths; the current working directory comes first. */
  folders: v.optional(v.array(v.string())),
  /** The buffer of the current window. */
  current: v.optional(v.number()),
  /** Files that were written or reloaded, and on which language servers have not reported since. */
  pending: v.optional(v.array(v.string())),
});
export type Delta = Omit<v.InferOutput<typeof Delta>, "diagnostics"> & {
  diagnostics?: { buf: number; path: string; items: Diagnostic[] }[] | undefined;
};

/** The end of a diff. `text` is the user's version of the proposal. */
export const DiffEnd = v.object({
  id: v.number(),
  outcome: v.picklist(["accepted", "rejected"]),
  text: v.optional(v.string()),
  /** The reason of a rejection, for the model. */
  reason: v.optional(v.string()),
});
export type DiffEnd = v.InferOutput<typeof DiffEnd>;

/** A mention of a file or folder, with 0-based lines unless the user means all of it. */
export const Mention = v.object({
  id: v.number(),
  path: v.string(),
  line_start: v.optional(v.number()),
  line_end: v.optional(v.number()),
  /** The process id of the CLI with which the user works, if there are several. */
  pid: v.optional(v.number()),
});
export type Mention = v.InferOutput<typeof Mention>;

/** The lines around the cursor, joined by LF. `line` is 1-based; `column` is 0-based, in characters. */
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

/** An action of the user in the plugin, for clients that collect statistics (spec 03, 5.4). */
export const LogEvent = v.object({
  name: v.string(),
  data: v.record(v.string(), v.unknown()),
});
export type LogEvent = v.InferOutput<typeof LogEvent>;

export interface FileProblems {
  /** Neovim's path of the file. */
  path: string;
  /** The real path. */
  real: string;
  items: Diagnostic[];
}

export interface Problems {
  /** Workspace folders, real paths; the current working directory comes first. */
  folders: string[];
  files: FileProblems[];
  /** Language servers have reported on everything that was written. */
  settled: boolean;
  /** The files with missing reports, and the cause. Only for named files, and for those of a session. */
  unknown?: string;
}

/** The problems on a line, and the lines around it. Line numbers are 1-based. */
export interface ProblemContext {
  items: Diagnostic[];
  lines: string[];
  start_line: number;
  filetype: string;
}
