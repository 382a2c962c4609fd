import { EditorRefusal } from "../editor/port";
import { languageOf } from "./languages";
import type { Occurrence } from "./occurrences";
import { remainsOf } from "./reconcile";
import { type AnswerText, type ReferencesQuestion, referencesText } from "./references-text";
import type { Found, LanguageServers, SymbolDefinition, SymbolInput, Verdict } from "./servers";
import { usesOf } from "./uses";

/** Files are opened for it: more of those that were written just now than of others. */
const MOST_FRESH = { files: 8, words: 24 };
const MOST_OTHER = { files: 3, words: 8 };
/** … and where one of them was a use. */
const MOST_DOUBTFUL = { files: 24, words: 48 };

/** A server that has read the files asks for others in turn. */
const MOST_AGAIN = 3;

/** What became of the words that are code, and that no server listed. */
interface Checked {
  /** These are uses. */
  missed: Occurrence[];
  /** How many in files that were written just now no server could judge. */
  unchecked: number;
  /** How many no server was asked about, although it should have been. */
  left: number;
}

/**
 * Finds the uses of a symbol, and does not believe that they are all: of the same words elsewhere some
 * are looked at. A server that left out a use has that file open by then, and is asked again.
 */
export class References {
  /** Words that are known to be other symbols, while their files stay as they are. */
  readonly #others = new Set<string>();
  /** Symbols of which others than fresh words were looked at: once is enough, since it takes time. */
  readonly #looked = new Set<string>();

  constructor(private readonly servers: LanguageServers) {}

  async find(
    input: SymbolInput,
    question: ReferencesQuestion,
    signal?: AbortSignal,
  ): Promise<AnswerText> {
    const { found, doubts } =
      question.relation === "references"
        ? await this.#checked(input, signal)
        : { found: await this.servers.related(input, question.relation, signal), doubts: [] };
    return referencesText(found, question, this.servers, doubts);
  }

  /**
   * Lets the servers read each file that uses the symbol, as far as can be seen, before it is renamed.
   * Returns the uses that they leave out all the same, in words.
   */
  async missing(input: SymbolInput, signal?: AbortSignal): Promise<string | undefined> {
    try {
      return (await this.#checked(input, signal)).missing;
    } catch (error) {
      // The rename says what is wrong, or needs no references.
      if (error instanceof EditorRefusal) return undefined;
      throw error;
    }
  }

  async #checked(
    input: SymbolInput,
    signal: AbortSignal | undefined,
  ): Promise<{ found: Found; doubts: string[]; missing?: string }> {
    let found = await this.servers.related(input, "references", signal);
    if (found.answer.candidates) return { found, doubts: [] };
    let checked = await this.#check(found, false, signal);
    for (let again = 0; checked.missed.length > 0 && again < MOST_AGAIN; again++) {
      found = await this.servers.related(input, "references", signal);
      checked = await this.#check(found, true, signal);
    }
    const missing = this.#missingOf(found, checked);
    const doubts = [...(missing ? [missing] : []), ...doubtsOf(checked)];
    return { found, doubts, ...(missing && { missing }) };
  }

  #missingOf({ answer }: Found, { missed }: Checked): string | undefined {
    if (missed.length === 0) return undefined;
    const names = answer.states.map(({ name }) => name).join(", ");
    const places = missed.map(({ path, line }) => `${this.servers.project.nameOf(path)}:${line}`);
    return `${names} did not list ${[...new Set(places)].join(", ")}`;
  }

  async #check(
    found: Found,
    isDoubtful: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Checked> {
    const definitions = definitionsOf(found);
    const symbol = JSON.stringify(definitions);
    const { fresh, others } = this.#suspects(found, definitions, symbol);
    const most = isDoubtful ? MOST_DOUBTFUL : MOST_OTHER;
    const older = this.#looked.has(symbol) && !isDoubtful ? [] : limited(others, most);
    remember(this.#looked, symbol);
    const left = isDoubtful ? others.length - older.length : 0;
    const chosen = [...limited(fresh, MOST_FRESH), ...older];
    if (chosen.length === 0) return { missed: [], unchecked: fresh.length, left };
    // A server that takes too long judges nothing; the answer is there all the same.
    const verdicts = await this.servers
      .verify(definitions, chosen, signal)
      .catch((): Verdict[] => []);
    signal?.throwIfAborted();
    const judged = chosen.map((use, index) => ({ use, verdict: verdicts[index] ?? "unknown" }));
    for (const { use, verdict } of judged) {
      if (verdict === "other") remember(this.#others, this.#keyOf(use, symbol));
    }
    const isUnjudged = ({ use, verdict }: (typeof judged)[number]) =>
      (verdict === "unknown" || verdict === "unasked") && this.servers.changed.isFresh(use.path);
    const isUnasked = ({ use, verdict }: (typeof judged)[number]) =>
      verdict === "unasked" && !this.servers.changed.isFresh(use.path);
    const notLooked = fresh.filter((use) => !chosen.includes(use)).length;
    return {
      missed: judged.filter(({ verdict }) => verdict === "same").map(({ use }) => use),
      unchecked: judged.filter(isUnjudged).length + notLooked,
      left: left + judged.filter(isUnasked).length,
    };
  }

  /** Words in the languages of the symbol that are code, and not known to be other symbols. */
  #suspects(
    { answer, occurrences, source }: Found,
    definitions: readonly SymbolDefinition[],
    symbol: string,
  ): { fresh: Occurrence[]; others: Occurrence[] } {
    const { project } = this.servers;
    const known = [answer.definitions, answer.uses ?? answer.definitions].map((places) =>
      usesOf(places, project, source),
    );
    const paths = [...definitions, ...known.flatMap(({ files }) => files)].map(({ path }) => path);
    const languages = new Set(paths.map(languageOf));
    const { code } = remainsOf(occurrences, known, () => true, project);
    const suspects = code.filter(
      (use) => languages.has(languageOf(use.path)) && !this.#others.has(this.#keyOf(use, symbol)),
    );
    const isFresh = ({ path }: Occurrence) => this.servers.changed.isFresh(path);
    return { fresh: suspects.filter(isFresh), others: suspects.filter((use) => !isFresh(use)) };
  }

  #keyOf({ path, line, column }: Occurrence, symbol: string): string {
    return [path, this.servers.changed.versions?.get(path), line, column, symbol].join("\0");
  }
}

/** A long session asks about many symbols. */
const MOST_REMEMBERED = 10_000;

function remember(set: Set<string>, key: string): void {
  if (set.size >= MOST_REMEMBERED) set.clear();
  set.add(key);
}

function doubtsOf({ unchecked, left }: Checked): string[] {
  return [
    ...(unchecked > 0
      ? [`${unchecked} of the other symbols are in files that were written just now`]
      : []),
    ...(left > 0 ? [`${left} of the other symbols were not looked at`] : []),
  ];
}

function definitionsOf({ answer }: Found): SymbolDefinition[] {
  const { files, places } = answer.definitions;
  return places.flatMap((place) => {
    const { file, line, character, encoding } = place;
    const path = files[file - 1]?.path;
    return path === undefined ? [] : [{ path, line, character, encoding }];
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
