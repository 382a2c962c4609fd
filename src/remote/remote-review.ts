import * as v from "valibot";
import type { Log } from "../lib/log";
import type { ReviewMethod } from "../review/requests";
import type { ReviewSummary } from "../review/summary";
import type { Link } from "./link";
import type { Mirror } from "./mirror";
import type { PathMap } from "./path-map";
import { Requests } from "./requests";
import {
  type AnswerOf,
  type Answers,
  answersOf,
  isDecisionOf,
  type RemoteSummary,
  requestToRemote,
} from "./review-answers";

/** git compares a large work tree. */
const ANSWER_MS = 60_000;
/** Files of an answer that come with it; others come when they are opened. */
const MOST_BROUGHT = 100;

/** The review of a remote's own files, which a review endpoint beside the relay answers. */
export class RemoteReview {
  /** What it reported last. */
  #summary: RemoteSummary | undefined;
  /** By their ids: undos of this Neovim that wait for the end of a turn, with their files. */
  readonly #queued = new Map<unknown, string[]>();
  /** git may ask for a message. */
  isCommitting = false;
  #link: Link | undefined;
  /** It was asked for: with the next connection it is there again. */
  #isWanted = false;
  readonly #relay: Requests;
  readonly #answers: Answers;
  /** Of Neovim's, which it gets with each connection. */
  readonly #options = new Map<ReviewMethod, object>();

  /** `onSummary`: it has changed. */
  constructor(
    readonly name: string,
    private readonly mirror: Mirror,
    private readonly map: PathMap,
    private readonly onSummary: () => void,
    log: Log,
  ) {
    this.#answers = answersOf(name, map, mirror);
    this.#relay = new Requests(
      name,
      "review",
      ({ summary }) => this.#report(v.parse(this.#answers.summary, summary)),
      () => this.#report(undefined),
      log,
    );
  }

  #report(summary: RemoteSummary | undefined): void {
    if (!this.#summary && !summary) return;
    this.#summary = summary;
    this.onSummary();
  }

  get summary(): Omit<ReviewSummary, "comments"> | undefined {
    return this.#summary;
  }

  connect(link: Link): void {
    this.#link = link;
    if (this.#isWanted) this.#connect(link);
  }

  /** Nobody wants the remote any more. */
  stop(): void {
    this.#link = undefined;
    this.#isWanted = false;
  }

  /** Can it be asked for, now or once it is connected again? */
  get isThere(): boolean {
    return this.#link !== undefined;
  }

  #connect(link: Link): void {
    this.#relay.connect(link);
    for (const [method, params] of this.#options) void this.#ask(method, params).catch(() => {});
  }

  /** From now on it reports. */
  open(): void {
    this.#isWanted = true;
    if (this.#link && !this.#relay.isUp) this.#connect(this.#link);
  }

  holds(path: unknown): boolean {
    return typeof path === "string" && this.mirror.holds(path);
  }

  decided(id: unknown): boolean {
    return isDecisionOf(this.name, id);
  }

  setOption(method: "privacy" | "ignore", params: object): void {
    this.#options.set(method, params);
    if (this.#relay.isUp) void this.#ask(method, params).catch(() => {});
  }

  /** Rejects with a UserError, and with a ValiError for an answer that is not in the contract. */
  async ask<M extends ReviewMethod>(method: M, params: object): Promise<AnswerOf<M>> {
    this.open();
    this.isCommitting ||= method === "commit";
    try {
      const answer = await this.#decide(method, params);
      await this.#bring(answer, method === "list");
      return answer;
    } finally {
      if (method === "commit") this.isCommitting = false;
    }
  }

  /** A queued undo is asked for once. Of a decision about some files the answer is about these. */
  async #decide<M extends ReviewMethod>(
    method: M,
    params: { files?: { path: string }[]; queued?: unknown; decision?: unknown },
  ): Promise<AnswerOf<M>> {
    const { files, queued, decision } = params;
    // It is taken back.
    this.#queued.delete(decision);
    if (!files) return this.#ask(method, params);
    if (queued !== undefined && !this.#queued.delete(queued)) return { files: [] } as AnswerOf<M>;
    const answer = (await this.#ask(method, params)) as AnswerOf<"undo">;
    const paths = files.map(({ path }) => path);
    const there = new Set(paths.map((path) => this.map.toRemote(path)));
    answer.files = answer.files.filter(({ path }) => there.has(this.map.toRemote(path)));
    if (method === "undo" && queued === undefined && answer.queued)
      this.#queued.set(answer.decision, paths);
    return answer as AnswerOf<M>;
  }

  async #ask<M extends ReviewMethod>(method: M, params: object): Promise<AnswerOf<M>> {
    const request = { method, params: requestToRemote(params, this.name, this.map) };
    const { value } = await this.#relay.ask(request, method === "commit" ? Infinity : ANSWER_MS);
    return v.parse(this.#answers.methods[method], value) as AnswerOf<M>;
  }

  /** The files here are those of there when Neovim looks at them. A list shows names alone: no other files come. */
  async #bring(answer: unknown, isList: boolean): Promise<void> {
    const { files } = (answer ?? {}) as { files?: unknown };
    const paths = Array.isArray(files) ? files.map(({ path }) => String(path)) : [];
    const wanted = isList ? paths.filter((path) => this.mirror.follows(path)) : paths;
    const brought = wanted.slice(0, MOST_BROUGHT).map((path) => this.mirror.bring([path]));
    await Promise.allSettled(brought);
  }
}
