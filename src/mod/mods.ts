import * as v from "valibot";
import { subject } from "../claude/tasks";
import { Emitter } from "../lib/emitter";
import { Failure } from "../lib/errors";
import { parseJson } from "../lib/json";
import type { Log } from "../lib/log";
import { beginning, cutText, isPlain, visible, visibleLine } from "../lib/visible";
import { writtenLines } from "../transcript/markdown";
import type { ModResponse } from "./socket";

/** Must equal CONTRACT of the mod, `register.ts`. */
const MOD_CONTRACT = 1;

/** The length of a mod's message in characters. */
const MAX_MESSAGE = 16 * 1024 * 1024;
/** Characters of a prompt, and of an answer that Neovim shows while Claude writes it. */
const MAX_TEXT = 1024 * 1024;
/** Characters of a result: Neovim waits while it reads one. */
const MAX_RESULT = 256 * 1024;
const MAX_COMMANDS = 2_000;
const MAX_NAME = 100;
const MAX_DESCRIPTION = 200;
const MAX_MODS = 128;
/** Operations of one mod at once. */
const MAX_OPERATIONS = 64;

/** The wait for an operation: the mod's HTTP client gives up after 30 s (measured with 2.1.332). */
const HOLD_MS = 25_000;
/** The pause between two reports of what Claude writes. */
const SHOW_MS = 50;
/** A mod that has made no request for this time is gone. */
const ABSENT_MS = 10_000;
/** The limit for operations that wait neither for the user nor for the model. */
const AT_ONCE_MS = 5_000;

/** Tokens, percent, dollars, or characters. */
const count = v.pipe(v.number(), v.minValue(0), v.maxValue(1e12));
/** The cost is in US dollars, as the CLI estimates it. */
const Usage = v.partial(v.object({ percent: count, tokens: count, window: count, cost: count }));
const TaskList = v.object({
  done: v.pipe(count, v.integer()),
  all: v.pipe(count, v.integer()),
  doing: v.optional(v.pipe(v.string(), v.transform(subject))),
});
const Report = v.object({
  contract: v.number(),
  mod: v.pipe(v.string(), v.uuid()),
  session: v.pipe(v.string(), v.regex(/^[\w-]{1,100}$/)),
  usage: v.optional(Usage),
  /** The relay of a remote adds it. */
  tasks: v.optional(TaskList),
  /** The operations that the mod performs. */
  open: v.optional(v.array(v.number())),
  written: v.optional(v.object({ text: v.string(), done: v.boolean() })),
  answer: v.optional(
    v.object({
      id: v.number(),
      value: v.optional(v.unknown()),
      refused: v.optional(v.string()),
      code: v.optional(v.string()),
    }),
  ),
});
type Report = v.InferOutput<typeof Report>;

export const text = v.pipe(v.string(), v.maxLength(MAX_TEXT));
const nothing = v.pipe(
  v.unknown(),
  v.transform(() => undefined),
);
const shown = v.pipe(
  v.string(),
  v.transform((text) => cutText(visible(beginning(text, MAX_RESULT + 1)), MAX_RESULT)),
);
const description = v.pipe(
  v.string(),
  v.transform((text) => visibleLine(text, MAX_DESCRIPTION)),
);
const commands = v.pipe(
  v.array(v.object({ name: v.string(), description })),
  v.transform((all) =>
    all
      .filter(({ name }) => name.length <= MAX_NAME && /^\S+$/.test(name) && isPlain(name))
      .slice(0, MAX_COMMANDS),
  ),
);
const draft = v.object({ text: shown, cursor: v.pipe(count, v.integer()) });
/** The results of the operations. */
const OPERATIONS = {
  submit: nothing,
  fill: draft,
  stop: nothing,
  follow: nothing,
  draft,
  run: v.object({ text: v.optional(shown) }),
  commands,
  ask: v.object({ text: shown }),
};
type Name = keyof typeof OPERATIONS;

type Operation = { id: number; op: Name; text: string; args: string };

/** Our code inside one running CLI. */
class Mod {
  session = "";
  usage: Report["usage"];
  tasks: Report["tasks"];
  /** The answer that Claude writes, or wrote last, and the lines of it that Neovim has. */
  written = { answer: 0, text: "", done: true };
  shown = { answer: 0, lines: [] as string[] };
  isShowing = false;
  /** Operations that it has not received. */
  queue: Operation[] = [];
  /** The results of all operations that it has not answered. */
  readonly open = new Map<number, PromiseWithResolvers<unknown>>();
  /** Ends the wait of its request for an operation. */
  wake: (() => void) | undefined;
  absence: Timer | undefined;

  constructor(readonly id: string) {}
}

/**
 * The mods of one place: this machine, or a remote. A mod gets its operations by long polling, and receives each one
 * once: an operation whose result is lost fails as `gone`.
 */
export class Mods {
  /** A mod came or went, or reported usage. */
  readonly onChange = new Emitter<void>();
  readonly #mods = new Map<string, Mod>();
  /** Sessions whose answers Neovim shows while Claude writes them. */
  readonly #followed = new Set<string>();
  /** Refused mods that the log already mentions. */
  readonly #refused = new Set<string>();
  /** A mod may still answer an earlier executable: that one's ids are lower. */
  #lastId = Date.now();

  constructor(
    private readonly show: (answer: { session: string }) => Promise<unknown>,
    private readonly log: Log,
  ) {}

  /** The fields that mods give to the rows of their sessions, by the sessions' ids. */
  rows(): Map<string, object> {
    const mods = [...this.#mods.values()];
    return new Map(mods.map(({ session, usage, tasks }) => [session, { mod: true, usage, tasks }]));
  }

  follow(session: string, on: boolean): void {
    if (on) this.#followed.add(session);
    else this.#followed.delete(session);
    this.#sendFollow(session);
  }

  end(): void {
    for (const mod of this.#mods.values()) this.#forget(mod);
  }

  #of(session: string): Mod | undefined {
    return this.#mods.values().find((mod) => mod.session === session);
  }

  /** Handles a message that a mod has posted. `signal` aborts when the mod no longer waits for the response. */
  async receive(path: string, body: string, signal: AbortSignal): Promise<ModResponse> {
    if (body.length > MAX_MESSAGE) return { status: 413 };
    const { success, output } = v.safeParse(Report, parseJson(body));
    if (!success) return { status: 400 };
    const mod = this.#admit(output);
    if (typeof mod === "number") return { status: mod };
    this.#take(mod, output);
    if (path !== "/next") return { status: 204 };
    this.#failLost(mod, output.open);
    return this.#next(mod, signal);
  }

  /** Returns the sender, or the HTTP status that refuses it. */
  #admit({ contract, mod: id, session }: Report): Mod | number {
    const refuse = (code: number, cause: string) => {
      if (!this.#refused.has(id) && this.#refused.size < MAX_MODS) {
        this.#refused.add(id);
        this.log.warn(`Refused the mod of session ${session}: ${cause}`, `mod ${code}`);
      }
      return code;
    };
    if (contract !== MOD_CONTRACT)
      return refuse(409, `it has contract ${contract}, we have ${MOD_CONTRACT}: restart its CLI`);
    if ((this.#of(session)?.id ?? id) !== id) return refuse(423, "the session has another one");
    const known = this.#mods.get(id);
    if (known?.session === session) return known;
    if (!known && this.#mods.size >= MAX_MODS) return refuse(503, `there are ${MAX_MODS} already`);
    const mod = known ?? new Mod(id);
    // After /clear and /resume a CLI continues with another session.
    mod.session = session;
    if (!known) this.#expect(mod);
    this.#mods.set(id, mod);
    this.log.info(`A mod is in the CLI of session ${session}`, "mods");
    if (known || this.#followed.has(session)) this.#sendFollow(session);
    this.onChange.emit();
    return mod;
  }

  #take(mod: Mod, { usage = mod.usage, tasks, written, answer }: Report): void {
    if (!Bun.deepEquals([usage, tasks], [mod.usage, mod.tasks])) {
      Object.assign(mod, { usage, tasks });
      this.onChange.emit();
    }
    if (written && this.#followed.has(mod.session)) {
      const { answer, done, text } = mod.written;
      this.#write(mod, {
        answer: done ? answer + 1 : answer,
        text: ((done ? "" : text) + written.text).slice(0, MAX_TEXT),
        done: written.done,
      });
    }
    const result = answer && mod.open.get(answer.id);
    if (result && answer.refused === undefined) result.resolve(answer.value);
    else if (result) {
      // The CLI puts the name of its function first.
      const said = (answer.refused ?? "").replace(/^HooksError: [\w-]+: \$[\w.]+: /, "");
      const cause = visibleLine(said, 200);
      const { code: given = "" } = answer;
      const code = ["dialog", "dropped"].includes(given) ? given : "refused";
      const unknown = /^no command named (\S+) in this session/.exec(cause)?.[1];
      result.reject(
        unknown
          ? new Failure(`Claude has no command ${unknown}`, "no_command")
          : new Failure(reasonFor(cause), code),
      );
    }
  }

  /** Operations that the mod has neither received nor answered: a message was lost. */
  #failLost(mod: Mod, open: readonly number[] = [...mod.open.keys()]): void {
    const known = new Set([...open, ...mod.queue.map(({ id }) => id)]);
    for (const [id, { reject }] of mod.open)
      if (!known.has(id)) reject(new Failure("the message was lost on its way", "gone"));
  }

  /** Responds with the next operation as soon as there is one. */
  async #next(mod: Mod, signal: AbortSignal): Promise<ModResponse> {
    this.#endWait(mod);
    clearTimeout(mod.absence);
    if (mod.queue.length === 0) {
      const waiting = Promise.withResolvers<void>();
      mod.wake = waiting.resolve;
      const timer = setTimeout(waiting.resolve, HOLD_MS);
      const onAbort = () => mod.wake === waiting.resolve && this.#forget(mod);
      signal.addEventListener("abort", onAbort);
      await waiting.promise;
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      if (mod.wake !== waiting.resolve) return { status: 204 };
      mod.wake = undefined;
    }
    this.#expect(mod);
    const operation = mod.queue.shift();
    return operation ? { status: 200, body: JSON.stringify(operation) } : { status: 204 };
  }

  /** A request that waits ends without an operation. */
  #endWait(mod: Mod): void {
    mod.wake?.();
    mod.wake = undefined;
  }

  #expect(mod: Mod): void {
    clearTimeout(mod.absence);
    mod.absence = setTimeout(() => this.#forget(mod), ABSENT_MS);
  }

  #forget(mod: Mod): void {
    this.#mods.delete(mod.id);
    clearTimeout(mod.absence);
    mod.queue = [];
    this.#endWait(mod);
    const failure = new Failure(
      "Claude Code has ended, or is suspended: then it may still arrive",
      "gone",
    );
    for (const { reject } of mod.open.values()) reject(failure);
    if (!mod.written.done) this.#write(mod, { ...mod.written, text: "", done: true });
    this.log.info(`The mod of session ${mod.session} is gone`, "mods");
    this.onChange.emit();
  }

  #write(mod: Mod, written: Mod["written"]): void {
    mod.written = written;
    if (!mod.isShowing) void this.#show(mod);
  }

  /** Sends Neovim the lines that it lacks until it has the newest text. */
  async #show(mod: Mod): Promise<void> {
    mod.isShowing = true;
    for (let sent: object = {}; sent !== mod.written; ) {
      sent = mod.written;
      const { answer, text, done } = mod.written;
      const known = mod.shown.answer === answer ? mod.shown.lines : [];
      const lines = writtenLines(text);
      const differs = lines.findIndex((line, row) => line !== known[row]);
      const row = differs < 0 ? lines.length : differs;
      mod.shown = { answer, lines };
      const update = { session: mod.session, answer, row, lines: lines.slice(row), done };
      await this.show(update).catch(() => {
        mod.shown.lines = [];
      });
      await Bun.sleep(SHOW_MS);
    }
    mod.isShowing = false;
  }

  /** The mod then sends the current answer from its beginning. */
  #sendFollow(session: string): void {
    const args = this.#followed.has(session) ? "on" : "";
    const mod = this.#of(session);
    if (mod) mod.written = { answer: mod.written.answer + 1, text: "", done: true };
    this.atOnce(session, "follow", "", args).catch(() => {});
  }

  /** Performs an operation that the CLI does without waiting. */
  atOnce(session: string, op: Name, text = "", args = ""): Promise<unknown> {
    return this.perform(session, op, text, args, AT_ONCE_MS);
  }

  /** Inserts text at the cursor of the draft, and white space between, so that no words are joined. */
  async fill(session: string, text: string): Promise<unknown> {
    const before = v.parse(draft, await this.atOnce(session, "draft"));
    const isApart = /(^|\s)$/.test(before.text.slice(0, before.cursor));
    const gap = text.includes("\n") ? "\n" : " ";
    return this.atOnce(session, "fill", isApart ? text : gap + text);
  }

  /** Rejects with Failure: `no_mod`, `gone`, `dialog` or `refused`. */
  async perform(session: string, op: Name, text: string, args = "", limitMs = 0) {
    const mod = this.#of(session);
    if (!mod) throw new Failure("that session's CLI runs no mod of this plugin", "no_mod");
    if (mod.open.size >= MAX_OPERATIONS)
      throw new Failure(`${MAX_OPERATIONS} requests wait in that session's CLI already`);
    const operation = { id: ++this.#lastId, op, text, args };
    const result = Promise.withResolvers<unknown>();
    const onLate = () => {
      mod.queue = mod.queue.filter((one) => one !== operation);
      result.reject(new Failure("Claude Code does not answer", "gone"));
    };
    const timer = limitMs > 0 ? setTimeout(onLate, limitMs) : undefined;
    mod.open.set(operation.id, result);
    mod.queue.push(operation);
    mod.wake?.();
    try {
      return v.parse(OPERATIONS[op], await result.promise);
    } finally {
      clearTimeout(timer);
      mod.open.delete(operation.id);
    }
  }
}

function reasonFor(cause: string): string {
  // Its list of agents, or a conversation that moved to the background (2.1.332).
  const hasLeft = cause.includes("not available in this mode");
  if (hasLeft) return "it left this conversation for its list of agents; type there, or resume it";
  return cause.startsWith("no answer")
    ? `Claude gave ${cause}`
    : `Claude Code refused it: ${cause}`;
}
