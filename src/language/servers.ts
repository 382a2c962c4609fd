import type { Encoding } from "../editor/model";
import { EditorRefusal } from "../editor/port";
import { isBelow, realPath, statOf } from "../lib/paths";
import { IdleGc } from "../lib/runtime";
import type { FollowedNeovim } from "../locate/followed";
import type { OutlineAnswer, SymbolAnswer } from "./answer";
import { ChangedFiles } from "./changed-files";
import { type Occurrence, type Occurrences, occurrencesOf } from "./occurrences";
import { ProjectFiles } from "./project-files";
import { SourceLines } from "./source-lines";

/** A whole question, asked again and waited for included. */
const LIMIT_MS = 20_000;
/** Of what a question left in doubt. */
const VERIFY_MS = 8_000;
/** Of these Neovim opens one, if no server knows the name. */
const MOST_PLACES = 5;
/** Of a folder. Each is loaded for its language server. */
const MOST_OUTLINED = 20;

/** Where a definition is, in a file that is named, says its server alone. */
const NOT_LOOKED: Occurrences = { list: [], isCut: true };

export interface SymbolInput {
  symbol: string;
  path?: string | undefined;
  line?: number | undefined;
}

export const RELATIONS = [
  "references",
  "implementations",
  "callers",
  "callees",
  "supertypes",
  "subtypes",
] as const;
export type Relation = (typeof RELATIONS)[number];

export interface SymbolDefinition {
  path: string;
  /** From 1, as on disk. */
  line: number;
  /** From 0, in the server's encoding. */
  character: number;
  /** UTF-16 if left out. */
  encoding: Encoding | undefined;
}

/** Whether a word is a use of a symbol, by its definition; "unasked": no server has its file. */
export type Verdict = "same" | "other" | "unknown" | "unasked";

/** A question's answer, and where the word stands in the project, which is looked up beside it. */
export interface Found {
  answer: SymbolAnswer;
  occurrences: Occurrences;
  /** The files' lines as they are now. */
  source: SourceLines;
}

/**
 * The language servers of whichever Neovim is followed. Calls reject with EditorBusyError, or with
 * EditorRefusal in a sentence that says what to do instead.
 */
export class LanguageServers {
  readonly project: ProjectFiles;
  /** What changes in the project from its start on is reported to the servers before a question. */
  readonly changed: ChangedFiles;
  readonly #idleGc = new IdleGc();

  constructor(private readonly neovim: FollowedNeovim) {
    this.project = new ProjectFiles(neovim.places[0] ?? process.cwd());
    this.changed = new ChangedFiles(this.project);
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
    const changes = this.changed.take();
    return this.neovim.runTask(method, { ...params, ...named, changes }, LIMIT_MS, signal);
  }

  /** What the servers say of words that they did not list among a symbol's uses. */
  verify(
    definitions: readonly SymbolDefinition[],
    uses: readonly Occurrence[],
    signal?: AbortSignal,
  ): Promise<Verdict[]> {
    return this.neovim.runTask("verify_uses", { definitions, uses }, VERIFY_MS, signal);
  }

  /** What a file, or each file of a folder, declares. */
  outline(path: string, signal?: AbortSignal): Promise<OutlineAnswer> {
    const { file, named } = this.file(path);
    const inFolder = this.#filesBelow(file);
    const files = inFolder?.slice(0, MOST_OUTLINED).map((one) => [one]) ?? [file];
    const left = (inFolder?.length ?? 0) - files.length;
    const params = { files, named, changes: this.changed.take() };
    const answer = this.neovim.runTask<OutlineAnswer>("outline", params, LIMIT_MS, signal);
    return answer.then((value) => ({ ...value, left: Math.max(left, 0) }));
  }

  /** Undefined unless one of the paths is a folder of the project. */
  #filesBelow(candidates: readonly string[]): string[] | undefined {
    const folder = candidates.map(realPath).find((path) => statOf(path)?.isDirectory());
    if (folder === undefined) return undefined;
    const files = [...(this.project.list() ?? [])].filter((path) => isBelow(path, folder));
    if (files.length > 0) return files.sort();
    throw new EditorRefusal(`${folder} holds no file of the project.`);
  }

  /** The paths that a client may mean. Throws EditorRefusal for what cannot be a file. */
  file(path: string): { file: string[]; named: string } {
    return { file: this.neovim.candidates(path), named: path };
  }

  async #find(
    method: string,
    input: SymbolInput,
    more: object,
    signal: AbortSignal | undefined,
  ): Promise<Found> {
    const { symbol, path, line } = input;
    this.#idleGc.countTask();
    const run = (params: object, until = signal) =>
      this.neovim.runTask<SymbolAnswer>(method, { ...more, symbol, ...params }, LIMIT_MS, until);
    const word = lastName(symbol);
    if (path === undefined) {
      const changes = this.changed.take();
      const occurrences = await occurrencesOf(word, this.project, signal);
      const answer = await run({ changes, occurrences: likelyPlaces(occurrences) });
      return { answer, occurrences, source: new SourceLines() };
    }
    const place = { ...this.file(path), ...(line && { line }) };
    const tooEarly = new AbortController();
    // Neovim and its servers work while this thread looks at the files. Most often none has changed.
    const early = run(place, AbortSignal.any([tooEarly.signal, ...(signal ? [signal] : [])]));
    early.catch(() => {});
    const words = method === "find_symbol" ? NOT_LOOKED : occurrencesOf(word, this.project, signal);
    await new Promise(setImmediate);
    const changes = this.changed.take();
    if (changes.length > 0) tooEarly.abort();
    const asked = changes.length > 0 ? run({ ...place, changes }) : early;
    asked.catch(() => {});
    const occurrences = await words;
    return { answer: await asked, occurrences, source: new SourceLines() };
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
