import * as v from "valibot";
import { message, UserError } from "../lib/errors";
import type { Log } from "../lib/log";
import { PathWatch } from "../lib/path-watch";
import { transcriptOf } from "./find";
import { View } from "./view";

/** What the CLI writes together is one update. In ms. */
const DEBOUNCE_MS = 15;
/** Neovim may be asking its user something. */
const REPORT_MS = 30_000;

const Conversation = v.object({ session: v.string(), agent: v.optional(v.string()) });
const Shown = v.object({ view: v.number() });
const Whole = v.object({ view: v.number(), call: v.string() });

interface TranscriptPort {
  call(method: string, params: object, deadlineMs: number): Promise<unknown>;
}

/**
 * Answers a Neovim's requests `transcript/…`, and reports to it what comes in the conversations that it shows.
 * It reads the CLI's own files; nothing is kept of them.
 */
export class TranscriptEndpoint {
  readonly #views = new Map<number, View>();
  readonly #watch = new PathWatch(() => this.#soon());
  #last = 0;
  #timer: Timer | undefined;

  constructor(
    private readonly port: TranscriptPort,
    private readonly log: Log,
  ) {}

  answer(method: string, params: unknown): unknown {
    switch (method) {
      case "open":
        return this.#open(v.parse(Conversation, params));
      case "earlier":
        return this.#view(v.parse(Shown, params).view).earlier();
      case "whole": {
        const { view, call } = v.parse(Whole, params);
        return this.#view(view).whole(call);
      }
      case "close":
        return this.#close(v.parse(Shown, params).view);
      default:
        throw new Error("there is no such method");
    }
  }

  /** A number for the view, and its first part. */
  #open({ session, agent }: v.InferOutput<typeof Conversation>): object {
    const path = transcriptOf(session, agent);
    if (path === undefined) {
      throw new UserError(
        "Claude has not written this conversation to a file yet: say something first",
      );
    }
    const id = ++this.#last;
    const view = new View(path);
    // Watched first: what comes while it is read is another event.
    this.#views.set(id, view);
    this.#follow();
    const update = readable(view, () => view.update());
    return { view: id, path, block: update?.block };
  }

  #view(id: number): View {
    const view = this.#views.get(id);
    if (!view) throw new UserError("this conversation is not shown any more: open it again");
    return view;
  }

  #close(id: number): void {
    this.#views.delete(id);
    this.#follow();
  }

  #follow(): void {
    this.#watch.follow([...this.#views.values()].map(({ path }) => path));
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const [id, view] of this.#views) this.#report(id, view);
    }, DEBOUNCE_MS);
  }

  #report(id: number, view: View): void {
    try {
      const update = view.update();
      if (update) this.#send({ view: id, ...update });
    } catch (error) {
      this.#send({ view: id, problem: `${view.path} cannot be read: ${message(error)}` });
    }
  }

  #send(update: object): void {
    this.port
      .call("transcript_changed", update, REPORT_MS)
      .catch((error) => this.log.warn(`A part of a conversation was not shown: ${message(error)}`));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#views.clear();
    this.#watch.end();
  }
}

function readable<T>(view: View, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UserError(`${view.path} cannot be read: ${message(error)}`);
  }
}
