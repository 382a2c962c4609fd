/** The answers of lua/claude-code/editor/language. Lines are 1-based, as in Neovim. */

interface LanguageFile {
  /** An absolute path, or the URI of something else. */
  path: string;
  /** True if it belongs to the project, and not to a package that the project uses. */
  is_own: boolean;
  /** Its buffer has unsaved changes. */
  unsaved?: boolean;
}

export interface LanguagePlace {
  /** A 1-based index into the files. */
  file: number;
  line: number;
  /** The line's text, if that on disk may differ. */
  text?: string;
}

export interface LanguagePlaces {
  files: LanguageFile[];
  places: LanguagePlace[];
  /** The number of places that are left out because their files are private. */
  private: number;
}

export interface ServerState {
  name: string;
  state: "idle" | "starting" | "indexing" | "failing" | "ended" | "hangs";
  /** The server's error. */
  title?: string;
}

export interface SymbolAnswer {
  name: string;
  definitions: LanguagePlaces;
  /** Markdown. */
  hover?: string;
  /** Several symbols have the name. There is one definition for each. */
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
