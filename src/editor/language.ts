/** The answers of lua/claude-code/editor/language. Lines count from 1, as they are in Neovim. */

interface LanguageFile {
  /** Absolute; a URI if it is not a file's. */
  path: string;
  /** Whether it belongs to the project, not to a package that the project uses. */
  is_own: boolean;
  /** Its buffer has unsaved changes. */
  unsaved?: boolean;
}

export interface LanguagePlace {
  /** Index into the files, from 1. */
  file: number;
  line: number;
  /** The line's text, if the file on disk may have another one. */
  text?: string;
}

export interface LanguagePlaces {
  files: LanguageFile[];
  places: LanguagePlace[];
  /** How many are in private files, and left out. */
  private: number;
}

export interface ServerState {
  name: string;
  state: "idle" | "starting" | "indexing" | "failing" | "ended" | "hangs";
  /** Its error. */
  title?: string;
}

export interface SymbolAnswer {
  name: string;
  definitions: LanguagePlaces;
  /** Markdown. */
  hover?: string;
  /** Several symbols have the name: the definitions are one of each. */
  are_candidates?: boolean;
  uses?: LanguagePlaces;
  states: ServerState[];
}

export interface OutlineAnswer {
  path: string;
  /** Its buffer has unsaved changes. */
  unsaved?: boolean;
  symbols: {
    name: string;
    kind: string;
    detail?: string;
    /** 0 at the top. */
    depth: number;
    /** Covers the whole declaration. */
    first_line: number;
    last_line: number;
  }[];
  states: ServerState[];
}
