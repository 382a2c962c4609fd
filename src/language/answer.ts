import type { Encoding } from "../editor/model";

/** What lua/claude-code/editor/language answers. */

export interface LanguageFile {
  /** Absolute; a URI where it is no file's. */
  path: string;
  in_workspace: boolean;
  /** Its buffer has unsaved changes. Lines are those on disk all the same. */
  unsaved?: boolean;
  /** They could not be found there, so they are the buffer's. */
  unmapped?: boolean;
}

export interface LanguagePlace {
  /** Index into the files, from 1. */
  file: number;
  /** From 1, as on disk; for text that only the buffer has, the line before it. */
  line: number;
  /** That text. */
  unsaved?: string;
  /** From 0, in the server's encoding. */
  character: number;
  /** UTF-16 if left out, as in LSP. */
  encoding?: Encoding;
}

export interface LanguagePlaces {
  files: LanguageFile[];
  places: LanguagePlace[];
  /** How many are in private files, and left out. */
  private: number;
}

export interface ServerState {
  name: string;
  state: "idle" | "starting" | "indexing" | "failing" | "unindexed" | "ended" | "hangs";
  /** Its error. */
  title?: string;
}

export interface HierarchyItem {
  name: string;
  kind: string;
  /** From 1. */
  depth: number;
  at: LanguagePlaces;
  calls?: LanguagePlaces;
}

export interface SymbolAnswer {
  name: string;
  definitions: LanguagePlaces;
  /** Markdown. */
  hover?: string;
  declaration?: {
    kind?: string;
    parents?: string[];
    /** From 1, as in the buffer. */
    first_line?: number;
    last_line?: number;
    body?: string[];
    /** Lines of the body that are left out. */
    more?: number;
  };
  /** Several symbols have the name: one for each of the definitions. */
  candidates?: { kind?: string; container?: string }[];
  uses?: LanguagePlaces;
  items?: HierarchyItem[];
  states: ServerState[];
  /** Whether the servers had read the project, as far as can be seen. */
  settled: boolean;
}

export interface OutlineSymbol {
  name: string;
  kind: string;
  detail?: string;
  /** 0 at the top. */
  depth: number;
  /** From 1, as on disk, of the whole declaration. */
  first_line: number;
  last_line: number;
}

export interface FileOutline {
  path: string;
  symbols: OutlineSymbol[];
  /** Its buffer has unsaved changes. */
  unsaved?: boolean;
  /** Why there is none. */
  failure?: string;
}

export interface OutlineAnswer {
  files: FileOutline[];
  states: ServerState[];
  /** Files of the folder that are left out. */
  left: number;
}
