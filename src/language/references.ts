import { extname } from "node:path";
import type { LanguageFile, LanguagePlace } from "./answer";
import type { Occurrence } from "./occurrences";
import { remainsOf } from "./reconcile";
import { type AnswerText, type ReferencesQuestion, referencesText } from "./references-text";
import type { Found, LanguageServers, SymbolDefinition, SymbolInput, Verdict } from "./servers";
import { asList, usesOf } from "./uses";

/** Files are opened for it: more of those that were written just now than of others. */
const MOST_FRESH = { files: 8, words: 24 };
const MOST_OTHER = { files: 3, words: 8 };

/** What became of the words that are code, and that no server listed. */
interface Checked {
  /** These are uses. */
  missed: Occurrence[];
  /** How many in files that were written just now no server could judge. */
  unchecked: number;
}

/**
 * Finds the uses of a symbol, and does not believe that they are all: of the same words elsewhere some
 * are looked at. A server that left out a use has that file open by then, and is asked again.
 */
export class References {
  readonly #servers: LanguageServers;
  /** Words that are known to be other symbols, while their files stay as they are. */
  readonly #others = new Set<string>();
  /** Symbols of which others than fresh words were looked at: once is enough, since it takes time. */
  readonly #looked = new Set<string>();

  constructor(servers: LanguageServers) {
    this.#servers = servers;
  }

  async find(
    input: SymbolInput,
    question: ReferencesQuestion,
    signal?: AbortSignal,
  ): Promise<AnswerText> {
    const { relation } = question;
    let found = await this.#servers.related(input, relation, signal);
    let doubts: string[] = [];
    if (relation === "references" && !found.answer.candidates) {
      const first = await this.#check(found, signal);
      if (first.missed.length > 0) {
        found = await this.#servers.related(input, relation, signal);
        doubts = this.#doubtsOf(found, await this.#check(found, signal));
      } else {
        doubts = this.#doubtsOf(found, first);
      }
    }
    return referencesText(found, question, this.#servers, doubts);
  }

  #doubtsOf({ answer }: Found, { missed, unchecked }: Checked): string[] {
    const names = answer.states.map(({ name }) => name).join(", ");
    const places = missed.map(({ path, line }) => `${this.#servers.project.nameOf(path)}:${line}`);
    return [
      ...(missed.length > 0 ? [`${names} did not list ${[...new Set(places)].join(", ")}`] : []),
      ...(unchecked > 0
        ? [`${unchecked} of the other symbols are in files that were written just now`]
        : []),
    ];
  }

  async #check(found: Found, signal: AbortSignal | undefined): Promise<Checked> {
    const definitions = definitionsOf(found);
    const symbol = JSON.stringify(definitions);
    const { fresh, others } = this.#suspects(found, definitions, symbol);
    const older = this.#looked.has(symbol) ? [] : limited(others, MOST_OTHER);
    remember(this.#looked, symbol);
    const chosen = [...limited(fresh, MOST_FRESH), ...older];
    if (chosen.length === 0) return { missed: [], unchecked: fresh.length };
    // A server that takes too long judges nothing; the answer is there all the same.
    const verdicts = await this.#servers
      .verify(definitions, chosen, signal)
      .catch((): Verdict[] => []);
    signal?.throwIfAborted();
    const judged = chosen.map((use, index) => ({ use, verdict: verdicts[index] ?? "unknown" }));
    for (const { use, verdict } of judged) {
      if (verdict === "other") remember(this.#others, this.#keyOf(use, symbol));
    }
    const isUnjudged = ({ use, verdict }: (typeof judged)[number]) =>
      verdict === "unknown" && this.#servers.isFresh(use.path);
    const notLooked = fresh.filter((use) => !chosen.includes(use)).length;
    return {
      missed: judged.filter(({ verdict }) => verdict === "same").map(({ use }) => use),
      unchecked: judged.filter(isUnjudged).length + notLooked,
    };
  }

  /** Words in the languages of the symbol that are code, and not known to be other symbols. */
  #suspects(
    { answer, occurrences, source }: Found,
    definitions: readonly SymbolDefinition[],
    symbol: string,
  ): { fresh: Occurrence[]; others: Occurrence[] } {
    const { project } = this.#servers;
    const known = [answer.definitions, answer.uses ?? answer.definitions].map((places) =>
      usesOf(places, project, source),
    );
    const paths = [...definitions, ...known.flatMap(({ files }) => files)].map(({ path }) => path);
    const languages = new Set(paths.map((path) => extname(path)));
    const { code } = remainsOf(occurrences, known, () => true, project);
    const suspects = code.filter(
      (use) => languages.has(extname(use.path)) && !this.#others.has(this.#keyOf(use, symbol)),
    );
    const isFresh = ({ path }: Occurrence) => this.#servers.isFresh(path);
    return { fresh: suspects.filter(isFresh), others: suspects.filter((use) => !isFresh(use)) };
  }

  #keyOf({ path, line, column }: Occurrence, symbol: string): string {
    return [path, this.#servers.versionOf(path), line, column, symbol].join("\0");
  }
}

/** A long session asks about many symbols. */
const MOST_REMEMBERED = 10_000;

function remember(set: Set<string>, key: string): void {
  if (set.size >= MOST_REMEMBERED) set.clear();
  set.add(key);
}

function definitionsOf({ answer }: Found): SymbolDefinition[] {
  const files = asList<LanguageFile>(answer.definitions.files);
  return asList<LanguagePlace>(answer.definitions.places).flatMap(({ file, line, character }) => {
    const path = files[file - 1]?.path;
    return path === undefined ? [] : [{ path, line, character }];
  });
}

function limited(
  uses: readonly Occurrence[],
  most: { files: number; words: number },
): Occurrence[] {
  const files = new Set<string>();
  return uses
    .filter(({ path }) => files.has(path) || (files.size < most.files && files.add(path)))
    .slice(0, most.words);
}
