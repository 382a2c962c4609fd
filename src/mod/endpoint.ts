import { chmodSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Server } from "bun";
import * as v from "valibot";
import type { EditorPort } from "../editor/methods";
import { modSocket } from "../ide/lock-file";
import { Emitter } from "../lib/emitter";
import { Failure, message } from "../lib/errors";
import { parseJson } from "../lib/json";
import type { Log } from "../lib/log";
import { namesIn, removeFile } from "../lib/paths";
import { makePrivateFolder } from "../lib/private-folder";
import { isAlive } from "../lib/process";
import { type Answer, takes } from "../lib/requests";
import { isSame, TOKEN_HEADER } from "../lib/token";
import { visibleLine } from "../lib/visible";

/** Must equal CONTRACT of the mod, `register.ts`. */
const MOD_CONTRACT = 1;

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Characters of a prompt, and of an answer that Neovim shows while Claude writes it. */
const MAX_TEXT = 1024 * 1024;
const MAX_MODS = 128;
/** Operations of one mod at once. */
const MAX_OPERATIONS = 64;

/** The wait for an operation: the mod's HTTP client gives up after 30 s (measured with 2.1.332). */
const HOLD_MS = 25_000;
/** The server closes a connection on which nothing has happened for this time. */
const IDLE_SECONDS = 40;
/** A mod that has made no request for this time is gone. */
const ABSENT_MS = 10_000;
/** The limit for operations that wait neither for the user nor for the model. */
const AT_ONCE_MS = 5_000;

const count = v.pipe(v.number(), v.finite(), v.minValue(0));
/** The cost is in US dollars, as the CLI estimates it. */
const Usage = v.partial(v.object({ percent: count, tokens: count, window: count, cost: count }));
const Report = v.object({
  contract: v.number(),
  mod: v.pipe(v.string(), v.uuid()),
  session: v.pipe(v.string(), v.regex(/^[\w-]{1,100}$/)),
  usage: v.optional(Usage),
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

const nothing = v.optional(v.unknown());
/** The results of the operations. */
const OPERATIONS = {
  submit: nothing,
  fill: nothing,
  stop: nothing,
  follow: nothing,
  draft: v.object({ text: v.string(), cursor: count }),
  run: v.object({ text: v.optional(v.string()) }),
  commands: v.array(v.object({ name: v.string(), description: v.string() })),
  ask: v.object({ text: v.string() }),
};
type Name = keyof typeof OPERATIONS;

const text = v.pipe(v.string(), v.maxLength(MAX_TEXT));
const InSession = v.object({ session: v.string() });
const WithText = v.object({ session: v.string(), text });
const CommandLine = v.object({ session: v.string(), command: v.string(), args: text });
const Follow = v.object({ session: v.string(), on: v.boolean() });

type Operation = { id: number; op: Name; text: string; args: string };

/** Our code inside one running CLI. */
class Mod {
  session = "";
  usage: Report["usage"];
  written = { text: "", done: false };
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
 * Serves the mods inside running CLIs, and answers Neovim's requests `mod/…`. A mod shows the token of our lock file at
 * a socket that only this user can reach, and takes its operations by a long poll. It receives each one once: an
 * operation whose result is lost fails as `gone`.
 */
export class ModEndpoint {
  /** A mod came or went, or reported usage. */
  readonly onChange = new Emitter<void>();
  #server: Server<undefined> | undefined;
  readonly #mods = new Map<string, Mod>();
  /** Sessions whose answers Neovim shows while Claude writes them. */
  readonly #followed = new Set<string>();
  /** Each of these mods has its line in the log. */
  readonly #refused = new Set<string>();
  #lastId = 0;

  /** Serves mods that show the token. Each executable has a socket of its own: Bun removes the path as it ends. */
  constructor(
    private readonly editor: Pick<EditorPort, "call">,
    private readonly log: Log,
    token: string,
  ) {
    const socket = modSocket();
    const folder = dirname(socket);
    try {
      makePrivateFolder(folder);
      const left = namesIn(folder).filter((name) => !isAlive(Number.parseInt(name, 10)));
      for (const name of [...left, basename(socket)]) removeFile(join(folder, name));
      // Bun has it for a socket, too, but not in the types (1.4.5).
      const idle: object = { idleTimeout: IDLE_SECONDS };
      this.#server = Bun.serve({
        ...idle,
        unix: socket,
        maxRequestBodySize: MAX_MESSAGE_BYTES,
        fetch: (request: Request) => this.#receive(request, token),
        error: () => status(500),
      });
      chmodSync(socket, 0o600);
    } catch (error) {
      log.warn(`No mod can connect: ${message(error)}`);
    }
  }

  readonly requests: Record<string, Answer> = {
    /** Answers once the prompt is in the conversation: the CLI keeps it while a turn runs or a dialog is open. */
    submit: takes(WithText, ({ session, text }) => this.#perform(session, "submit", text)),
    /** Inserts at the cursor of the draft; fails as "dialog" while the CLI asks something. */
    fill: takes(WithText, ({ session, text }) => this.#atOnce(session, "fill", text)),
    draft: takes(InSession, ({ session }) => this.#atOnce(session, "draft")),
    /** Answers with the text that the command printed, if it did. */
    run: takes(CommandLine, (line) => this.#perform(line.session, "run", line.command, line.args)),
    /** Answers with all slash commands. */
    commands: takes(InSession, ({ session }) => this.#atOnce(session, "commands")),
    stop: takes(InSession, ({ session }) => this.#atOnce(session, "stop")),
    /** Answers a question that leaves no trace in the conversation. */
    ask: takes(WithText, ({ session, text }) => this.#perform(session, "ask", text)),
    /** Begins or ends `answer_written` for a session. */
    follow: takes(Follow, ({ session, on }) => {
      if (on) this.#followed.add(session);
      else this.#followed.delete(session);
      this.#sendFollow(session);
    }),
  };

  /** The fields of a session's row that its mod knows. */
  row(session: string): { mod?: true; usage?: Report["usage"] } {
    const mod = this.#of(session);
    return mod ? { mod: true, usage: mod.usage } : {};
  }

  async end(): Promise<void> {
    for (const mod of this.#mods.values()) this.#forget(mod);
    await this.#server?.stop(true);
  }

  #of(session: string): Mod | undefined {
    return this.#mods.values().find((mod) => mod.session === session);
  }

  async #receive(request: Request, token: string): Promise<Response> {
    if (!isSame(request.headers.get(TOKEN_HEADER) ?? "", token)) {
      this.log.warn("Refused a mod: a missing or wrong token");
      return status(401);
    }
    const { success, output } = v.safeParse(Report, parseJson(await request.text()));
    if (!success) return status(400);
    const mod = this.#admit(output);
    if (typeof mod === "number") return status(mod);
    this.#take(mod, output);
    const isPoll = new URL(request.url).pathname === "/next";
    return isPoll ? this.#next(mod, request.signal) : status(204);
  }

  /** Returns the sender, or the status by which it is refused. */
  #admit({ contract, mod: id, session }: Report): Mod | number {
    const refuse = (code: number, cause: string) => {
      if (!this.#refused.has(id) && this.#refused.size < MAX_MODS) {
        this.#refused.add(id);
        this.log.warn(`Refused the mod of session ${session}: ${cause}`);
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
    this.log.info(`A mod is in the CLI of session ${session}`);
    if (known || this.#followed.has(session)) this.#sendFollow(session);
    this.onChange.emit();
    return mod;
  }

  #take(mod: Mod, { usage, written, answer }: Report): void {
    if (usage) {
      mod.usage = usage;
      this.onChange.emit();
    }
    if (written && this.#followed.has(mod.session)) {
      const before = mod.written.done ? "" : mod.written.text;
      mod.written = { text: (before + written.text).slice(0, MAX_TEXT), done: written.done };
      if (!mod.isShowing) void this.#show(mod);
    }
    const result = answer && mod.open.get(answer.id);
    if (result && answer.refused === undefined) result.resolve(answer.value);
    else if (result) {
      const cause = visibleLine(answer.refused ?? "", 200);
      const code = answer.code === "dialog" ? "dialog" : "refused";
      result.reject(new Failure(`Claude Code refused it: ${cause}`, code));
    }
  }

  /** Responds with the next operation as soon as there is one. */
  async #next(mod: Mod, signal: AbortSignal): Promise<Response> {
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
      if (mod.wake !== waiting.resolve) return status(204);
      mod.wake = undefined;
    }
    this.#expect(mod);
    const operation = mod.queue.shift();
    return operation ? Response.json(operation) : status(204);
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
    const failure = new Failure("Claude Code has ended, or has lost its connection", "gone");
    for (const { reject } of mod.open.values()) reject(failure);
    this.log.info(`The mod of session ${mod.session} is gone`);
    this.onChange.emit();
  }

  /** Sends Neovim the present answer until it has the newest text. */
  async #show(mod: Mod): Promise<void> {
    mod.isShowing = true;
    for (let shown: object = {}; shown !== mod.written; ) {
      shown = mod.written;
      const answer = { ...shown, session: mod.session };
      await this.editor.call("answer_written", answer).catch(() => {});
    }
    mod.isShowing = false;
  }

  #sendFollow(session: string): void {
    const args = this.#followed.has(session) ? "on" : "";
    this.#atOnce(session, "follow", "", args).catch(() => {});
  }

  #atOnce(session: string, op: Name, text = "", args = ""): Promise<unknown> {
    return this.#perform(session, op, text, args, AT_ONCE_MS);
  }

  async #perform(session: string, op: Name, text: string, args = "", limitMs = 0) {
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

/** A response without a body. */
function status(code: number): Response {
  return new Response(null, { status: code });
}
