import type { Diagnostic } from "./model";

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
  /** Of which files reports are missing, and why; for the files of a session. */
  unknown?: string;
}

/** One line with what is wrong on it and the lines around it; line numbers are 1-based. */
export interface ProblemContext {
  items: Diagnostic[];
  lines: string[];
  start_line: number;
  filetype: string;
}

/**
 * Diagnostics as the stdio server's tools see them. A file is given by the absolute paths it may
 * have, most likely first. Lists wait up to 1.5 s until they are settled. Calls reject with
 * EditorBusyError or EditorRefusal.
 */
export interface ProblemsPort {
  /** All files with problems. */
  all(): Promise<Problems>;
  /** The named files. Those of the workspace that are not open are loaded for it. */
  of(files: readonly string[][]): Promise<Problems>;
  /** The files that the Claude session of this server has edited since it last stopped. */
  ofSession(): Promise<Problems>;
  /** A line and `count` lines before and behind it. EditorRefusal "not_open" or "no_line". */
  around(file: readonly string[], line: number, count: number): Promise<ProblemContext>;
  /** The paths a client may mean. Throws EditorRefusal for what cannot be a file. */
  candidates(path: string): string[];
}
