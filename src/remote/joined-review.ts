import { message } from "../lib/errors";
import { isObject, type JsonObject } from "../lib/json";
import type { Log } from "../lib/log";
import { own } from "../lib/own";
import { REPORT_MS, ReviewEndpoint, type ReviewPort } from "../review/endpoint";
import { LastText } from "../review/last-text";
import type { ReviewMethod } from "../review/requests";
import { joined, type Listed, type Unchanged } from "../review/service";
import type { ShownDecision } from "../review/shown";
import { sum } from "../review/state/entry";
import type { ReviewSummary } from "../review/summary";
import type { RemoteReview } from "./remote-review";

/** Lists of a request whose entries are about a file each. */
const BY_FILE = ["paths", "expanded", "texts", "files"] as const;

interface Elsewhere {
  reviews(): RemoteReview[];
  onSummary: () => void;
  /** What remotes that come later get. */
  readonly reviewOptions: Map<"privacy" | "ignore", object>;
}

/** undefined: the one of this machine. */
type Whose = RemoteReview | undefined;

/** Answers a Neovim's requests `review/…`: of the files of this machine, and of those that are in remotes alone. */
export class JoinedReview {
  readonly #here: ReviewEndpoint;
  readonly #text = new LastText();
  #summary: ReviewSummary | undefined;

  constructor(
    private readonly port: ReviewPort,
    private readonly elsewhere: Elsewhere,
    private readonly log: Log,
  ) {
    elsewhere.onSummary = () => this.#changed();
    const call = (_method: string, params: object) => {
      this.#summary = params as ReviewSummary;
      return this.#report();
    };
    this.#here = new ReviewEndpoint(
      {
        ...{ call, onDelta: port.onDelta, loadedFiles: () => port.loadedFiles() },
        get state() {
          return port.state;
        },
      },
      log,
    );
  }

  start(): void {
    this.#here.start();
  }

  clientsChanged(): void {
    this.#here.clientsChanged();
  }

  end(): Promise<void> {
    return this.#here.end();
  }

  answered(method: string): void {
    this.#here.answered(method);
  }

  #changed(): void {
    this.#report().catch((error) =>
      this.log.warn(`A report of the review failed: ${message(error)}`),
    );
  }

  async #report(): Promise<unknown> {
    const here = this.#summary;
    if (!here) return undefined;
    const all = [here, ...this.elsewhere.reviews().flatMap(({ summary }) => summary ?? [])];
    const params: ReviewSummary = {
      counts: sum(all.map(({ counts }) => counts)),
      incomplete: all.some(({ incomplete }) => incomplete),
      // The user's own words, which Claude gets as theirs: none of them comes from elsewhere.
      comments: here.comments,
      runs: all.some(({ runs }) => runs),
    };
    return this.port.call("review_changed", params, REPORT_MS);
  }

  /** Throws what ReviewService.answer throws. */
  answer(method: string, given: unknown): unknown {
    // In the order in which the texts came.
    const params = this.#text.resolve(given);
    const route = own(this.#routes, method);
    if (!route || !isObject(params)) return this.#here.answer(method, params);
    return route(method as ReviewMethod, params);
  }

  readonly #byPath = (method: ReviewMethod, params: JsonObject) =>
    this.#ask(this.#at(params.path), method, params);

  #option(method: "privacy" | "ignore", params: JsonObject): unknown {
    // A whole path is one of this machine.
    const isPart = (pattern: unknown) => !/^([~/\\]|[A-Za-z]:)/.test(String(pattern));
    const patterns = Array.isArray(params.patterns) ? params.patterns.filter(isPart) : [];
    for (const remote of this.elsewhere.reviews())
      remote.setOption(method, { ...params, patterns });
    this.elsewhere.reviewOptions.set(method, { ...params, patterns });
    return this.#here.answer(method, params);
  }

  /** Who answers each method. */
  readonly #routes: Record<ReviewMethod, (method: ReviewMethod, params: JsonObject) => unknown> = {
    list: (_, params) => this.#list(params),
    file: this.#byPath,
    why: this.#byPath,
    base: this.#byPath,
    accepted: this.#byPath,
    written: this.#byPath,
    commit: this.#byPath,
    keep: (_, params) => this.#split("keep", params),
    undo: (_, params) => this.#split("undo", params),
    last: (_, params) => this.#last(params),
    back: (_, params) => this.#back(params),
    done: (_, params) => this.#split("done", params),
    // The user's own words stay here.
    comments: (method, params) => this.#here.answer(method, params),
    privacy: (_, params) => this.#option("privacy", params),
    ignore: (_, params) => this.#option("ignore", params),
  };

  #at(path: unknown): Whose {
    return this.elsewhere.reviews().find((remote) => remote.holds(path));
  }

  #ask(whose: Whose, method: ReviewMethod, params: JsonObject): Promise<unknown> {
    const own = this.#partOf(params, whose);
    return whose ? whose.ask(method, own) : Promise.resolve(this.#here.answer(method, own));
  }

  /** With the entries that are about its files. */
  #partOf(params: JsonObject, whose: Whose): JsonObject {
    const isIts = (one: unknown) => this.#at(isObject(one) ? one.path : one) === whose;
    const lists = BY_FILE.flatMap((key) => {
      const all = params[key];
      return Array.isArray(all) ? [[key, all.filter(isIts)]] : [];
    });
    return { ...params, ...Object.fromEntries(lists) };
  }

  /** Those that a request is about: all, or those of the files that it names. */
  #asked({ paths, files }: JsonObject): Whose[] {
    const named = [files, paths].find(Array.isArray) as unknown[] | undefined;
    const found = named?.map((one) => this.#at(isObject(one) ? one.path : one));
    const others = this.elsewhere.reviews().filter(({ isThere }) => isThere);
    return [...new Set<Whose>(found ?? [undefined, ...others])];
  }

  async #list(params: JsonObject): Promise<unknown> {
    const { branch, known } = params;
    const all = isObject(branch) ? [this.#at(branch.root)] : this.#asked(params);
    if (all.length === 1) return this.#ask(all[0], "list", params);
    const lists = await Promise.all(
      all.map(async (whose): Promise<Listed> => {
        const asked = this.#ask(whose, "list", { ...params, known: undefined });
        return (await (whose ? asked.catch((error) => missing(whose, error)) : asked)) as Listed;
      }),
    );
    const version = Bun.hash(JSON.stringify(lists.map((one) => one.version))).toString(36);
    if (version === known) return { unchanged: true } satisfies Unchanged;
    return {
      version,
      files: lists.flatMap(({ files }) => files).sort((a, b) => (a.path < b.path ? -1 : 1)),
      counts: sum(lists.map(({ counts }) => counts)),
      incomplete: lists.flatMap(({ incomplete }) => incomplete),
      ignored: lists.reduce((count, { ignored }) => count + ignored, 0),
    } satisfies Listed;
  }

  /** A decision is one of its machine. Those that are elsewhere come first: they may not be there. */
  async #split(method: "keep" | "undo" | "done", params: JsonObject): Promise<unknown> {
    const results: ShownDecision[] = [];
    for (const whose of this.#asked(params).sort((a, b) => Number(!a) - Number(!b)))
      results.push((await this.#ask(whose, method, params)) as ShownDecision);
    return joined(results);
  }

  async #last(params: JsonObject): Promise<{ decision: string; at: number } | undefined> {
    const asked = params.path === undefined ? this.#asked({}) : [this.#at(params.path)];
    const all = await Promise.all(
      // One that was never asked for has nothing to take back here.
      asked.map(
        (whose) => (whose?.summary || !whose || params.path) && this.#ask(whose, "last", params),
      ),
    );
    type Last = { decision: string; at: number };
    return (all.filter(Boolean) as Last[]).sort((a, b) => b.at - a.at)[0];
  }

  async #back(params: JsonObject): Promise<unknown> {
    const decision = params.decision ?? (await this.#last({}))?.decision;
    const whose = this.elsewhere.reviews().find((remote) => remote.decided(decision));
    return this.#ask(whose, "back", { ...params, ...(decision !== undefined && { decision }) });
  }
}

/** Of a remote that does not answer. */
function missing({ name }: RemoteReview, error: unknown): Listed {
  return {
    version: message(error),
    files: [],
    counts: { files: 0, hunks: 0, added: 0, removed: 0 },
    incomplete: [`the changes in ${name} are not listed: ${message(error)}`],
    ignored: 0,
  };
}
