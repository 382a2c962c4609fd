import { isAbsolute } from "node:path";
import { resolvePath } from "../editor/path";
import type { FollowedNeovim } from "../locate/followed";
import type { SymbolAnswer } from "./answer";
import { ChangedFiles } from "./changed-files";
import { type Occurrences, occurrencesOf } from "./occurrences";
import { ProjectFiles } from "./project-files";

/** A whole question, asked again and waited for included. */
const LIMIT_MS = 20_000;
/** Of these Neovim opens one, if no server knows the name. */
const MOST_PLACES = 5;

/** Which symbol a question is about. */
export interface SymbolInput {
  symbol: string;
  path?: string | undefined;
  line?: number | undefined;
}

export type Relation =
  | "references"
  | "implementations"
  | "callers"
  | "callees"
  | "supertypes"
  | "subtypes";

/** A question's answer, and where the word stands in the project, which is looked up beside it. */
export interface Found {
  answer: SymbolAnswer;
  occurrences: Occurrences;
}

/**
 * The language servers of whichever Neovim is followed. Calls reject with EditorBusyError, or with
 * EditorRefusal in a sentence that says what to do instead.
 */
export class LanguageServers {
  readonly project: ProjectFiles;
  readonly #neovim: FollowedNeovim;
  readonly #changed: ChangedFiles;

  constructor(neovim: FollowedNeovim) {
    this.#neovim = neovim;
    this.project = new ProjectFiles(neovim.places[0] ?? process.cwd());
    this.#changed = new ChangedFiles(this.project);
  }

  /** What changes in the project from now on is reported to the servers before a question. */
  start(): void {
    this.#changed.start();
  }

  definition(input: SymbolInput, body: boolean, signal?: AbortSignal): Promise<Found> {
    return this.#find("find_symbol", input, { body }, signal);
  }

  related(input: SymbolInput, relation: Relation, signal?: AbortSignal): Promise<Found> {
    return this.#find("find_references", input, { relation }, signal);
  }

  /** A method that needs nothing but a path; that file and all others are as on disk by then. */
  ask<T>(method: string, path: string, params: object, signal?: AbortSignal): Promise<T> {
    const named = this.file(path);
    const changes = this.#changed.take();
    return this.#neovim.runTask(method, { ...params, ...named, changes }, LIMIT_MS, signal);
  }

  /** The paths that a client may mean. Throws EditorRefusal for what cannot be a file. */
  file(path: string): { file: string[]; named: string } {
    const here = this.#neovim.places.map((place) => resolvePath(path, place));
    return { file: [...new Set(isAbsolute(path) ? here : [...here, path])], named: path };
  }

  async #find(
    method: string,
    input: SymbolInput,
    more: object,
    signal: AbortSignal | undefined,
  ): Promise<Found> {
    const { symbol, path, line } = input;
    const word = lastName(symbol);
    const changes = this.#changed.take();
    const place = path === undefined ? {} : { ...this.file(path), ...(line && { line }) };
    const params = { ...more, symbol, changes, ...place };
    if (path !== undefined) {
      // Neovim and its servers work in the meantime.
      const asked = this.#neovim.runTask<SymbolAnswer>(method, params, LIMIT_MS, signal);
      asked.catch(() => {});
      const occurrences = occurrencesOf(word, this.project);
      return { answer: await asked, occurrences };
    }
    const occurrences = occurrencesOf(word, this.project);
    const places = likelyPlaces(occurrences);
    const request = { ...params, occurrences: places };
    const answer = await this.#neovim.runTask<SymbolAnswer>(method, request, LIMIT_MS, signal);
    return { answer, occurrences };
  }
}

/** `Parser.parse` names one of several `parse`. */
export function lastName(symbol: string): string {
  const parts = symbol
    .replace(/\([^()]*\)\s*$/, "")
    .split(/[.:#/\s]+/)
    .filter(Boolean);
  return parts.at(-1) ?? symbol;
}

/** One for each file, code first: a word in a comment leads nowhere. */
function likelyPlaces({ list }: Occurrences): { path: string; line: number }[] {
  const byFile = new Map<string, { path: string; line: number }>();
  for (const { path, line, context } of list) {
    if (context === "code" && !byFile.has(path)) byFile.set(path, { path, line });
  }
  return [...byFile.values()].slice(0, MOST_PLACES);
}
