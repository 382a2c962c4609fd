import { existsSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { conversationsFolder, conversationsOf, transcriptOf } from "../claude/config-dir";
import type { EditorPort } from "../editor/methods";
import { attempt, Failure, message } from "../lib/errors";
import type { Log } from "../lib/log";
import { PathWatch } from "../lib/path-watch";
import { takes } from "../lib/requests";
import type { EndedCall } from "../review/unrecorded";
import { type Item, itemsOf, type ToHost, type ToolCall, type ToolResult } from "./entries";
import { type Line, TranscriptFile } from "./file";
import { type Block, markdown, type Result, resultOf } from "./markdown";
import { trailOf } from "./trail";
import { WatchedTranscript } from "./watched";

/** Groups writes of the CLI within this many ms into one update. */
const DEBOUNCE_MS = 15;

const optional = v.optional(v.string());
/** `remote`: the name of the one where its Claude runs. */
const Session = v.object({ session: v.string(), agent: optional, remote: optional });
const Watched = v.object({
  sessions: v.array(v.object({ id: v.string(), cwd: v.string() })),
});
const Trail = v.object({
  ...Session.entries,
  turn: v.union([v.picklist(["last", "all"]), v.number()]),
});
const Shown = v.object({ view: v.number() });
const Named = v.object({ view: v.number(), name: v.string(), folder: optional });

/** The file of a conversation; there may be none yet. */
interface Conversation {
  readonly path: string;
  readonly toHost?: ToHost;
}

/**
 * Answers a Neovim's requests `transcript/…`, and reports what is added to the conversations that it shows. It reads
 * the CLI's own files and stores nothing of them.
 */
export class TranscriptEndpoint {
  readonly #views = new Map<number, View>();
  /** By their sessions' ids. */
  readonly #watched = new Map<string, WatchedTranscript>();
  readonly #watch = new PathWatch(() => this.#soon());
  readonly #reporting = new WeakSet<View>();
  readonly #unreadable = new WeakSet<View>();
  #last = 0;
  #timer: Timer | undefined;

  constructor(
    private readonly editor: Pick<EditorPort, "call">,
    private readonly log: Log,
    /** Copies the conversation of a Claude in a remote, as it is now. */
    private readonly copy?: (remote: string, session: string) => Promise<Conversation>,
    /** A call has ended of a CLI that was started in `folder`, in a session that is watched. */
    private readonly onEnded?: (folder: string, call: EndedCall) => void,
  ) {}

  readonly requests = {
    open: takes(Session, async (session) => this.#open(await this.#find(session))),
    earlier: takes(Shown, ({ view }) => this.#view(view).earlier()),
    trail: takes(Trail, async (asked) => {
      const { path, toHost } = await this.#find(asked);
      return readable(path, () => trailOf(path, asked.turn, toHost));
    }),
    place: takes(Named, ({ view, name, folder }) => {
      const path = this.#view(view).toHost?.(name, folder);
      return path !== undefined && existsSync(path) ? path : undefined;
    }),
    watch: takes(Watched, ({ sessions }) => this.#watchAll(sessions)),
    close: takes(Shown, ({ view }) => {
      this.#views.delete(view);
      this.#follow();
    }),
  };

  /** A number for the view, and its first part. */
  #open({ path, toHost }: Conversation) {
    const id = ++this.#last;
    const view = new View(path, toHost);
    const update = readable(path, () => view.update());
    // Neovim shows each conversation once.
    for (const [other, known] of this.#views) if (known.path === path) this.#views.delete(other);
    this.#views.set(id, view);
    this.#follow();
    return { view: id, path, block: update?.block };
  }

  async #find({ session, agent, remote }: v.InferOutput<typeof Session>): Promise<Conversation> {
    if (remote !== undefined && agent !== undefined)
      throw new Failure("the conversation of a subagent in a remote cannot be shown");
    const here = { path: transcriptOf(session, agent) ?? "" };
    const found = remote === undefined ? here : await this.copy?.(remote, session);
    if (found && existsSync(found.path)) return found;
    const text = "this conversation is not in a file yet: Claude writes it with its first answer";
    throw new Failure(text);
  }

  /** Replaces the sessions about which Neovim gets news. */
  #watchAll(sessions: v.InferOutput<typeof Watched>["sessions"]): void {
    for (const id of this.#watched.keys()) {
      if (!sessions.some((session) => session.id === id)) this.#watched.delete(id);
    }
    for (const { id, cwd } of sessions) {
      const path = transcriptOf(id) ?? expectedPath(id, cwd);
      if (this.#watched.get(id)?.path === path) continue;
      const onEnded = (call: Omit<EndedCall, "session">) =>
        this.onEnded?.(cwd, { session: id, ...call });
      this.#watched.set(id, new WatchedTranscript(path, onEnded));
    }
    this.#follow();
  }

  #view(id: number): View {
    const view = this.#views.get(id);
    if (!view) throw new Failure("this conversation is not shown any more: open it again");
    return view;
  }

  #follow(): void {
    const all = [...this.#views.values(), ...this.#watched.values()].map(({ path }) => path);
    // Changes after this call are events; earlier ones were not, so look once more.
    if (this.#watch.follow(all)) this.#soon();
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // A folder that was missing may be there now.
      this.#follow();
      for (const [id, view] of this.#views) void this.#report(id, view);
      for (const [session, one] of this.#watched) this.#sendNews(session, one);
    }, DEBOUNCE_MS);
  }

  /** One part after the other: between them Neovim draws, and reads keys. */
  async #report(id: number, view: View): Promise<void> {
    if (this.#reporting.has(view)) return;
    this.#reporting.add(view);
    for (let next = this.#next(id, view); next; next = this.#next(id, view)) {
      await this.#send({ view: id, ...next });
    }
    this.#reporting.delete(view);
  }

  #next(id: number, view: View): object | undefined {
    if (!this.#views.has(id)) return undefined;
    try {
      const update = view.update();
      this.#unreadable.delete(view);
      return update;
    } catch (error) {
      // Reports it once, until the file can be read again.
      if (this.#unreadable.has(view)) return undefined;
      this.#unreadable.add(view);
      return { problem: `${view.path} cannot be read: ${message(error)}` };
    }
  }

  #sendNews(session: string, transcript: WatchedTranscript): void {
    // It may not be there yet, or not any more.
    const news = attempt(() => transcript.news());
    if (news) void this.#send({ session, ...news }, "transcript_news");
  }

  async #send(
    update: object,
    method: "transcript_changed" | "transcript_news" = "transcript_changed",
  ): Promise<void> {
    await this.editor
      .call(method, update)
      .catch((error) => this.log.warn(`A part of a conversation was not shown: ${message(error)}`));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#views.clear();
    this.#watched.clear();
    this.#watch.end();
  }
}

function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Failure(`${path} cannot be read: ${message(error)}`);
  }
}

/** The path to which the CLI will write it. */
function expectedPath(session: string, cwd: string): string {
  return join(conversationsFolder(), conversationsOf(cwd), `${session.replaceAll("/", "-")}.jsonl`);
}

/** A conversation may have many MB; it is shown in parts of this size, the last one first. */
const PART_BYTES = 64 * 1024;

/** The changes of a conversation since the last look. */
interface Update {
  /** The update replaces all that was shown before: see TranscriptFile. */
  restarted?: true;
  /** Follows at the end. */
  block: Block;
  /** Results of calls that were shown without one. */
  results: { call: string; block: Block; about: Result["about"] }[];
}

/** A conversation on screen: its last part first, then new lines, and earlier parts on request. */
export class View {
  readonly #file: TranscriptFile;
  /** Results of calls that are further up. */
  readonly #results = new Map<string, ToolResult>();
  /** Calls whose results have yet to come. */
  readonly #open = new Map<string, ToolCall>();
  readonly #items = (line: Line) => itemsOf(line, this.toHost);

  /** `toHost`: where Claude runs elsewhere. */
  constructor(
    readonly path: string,
    readonly toHost?: ToHost,
  ) {
    this.#file = new TranscriptFile(path);
  }

  /** The lines that were added; undefined if there are none. Throws if the file cannot be read. */
  update(): Update | undefined {
    const { lines, restarted } = this.#file.appended();
    if (restarted) return { restarted, block: this.#begin(lines), results: [] };
    if (lines.length === 0) return undefined;
    const items = lines.flatMap(this.#items);
    const results = items.flatMap((item) => (item.kind === "result" ? this.#late(item) : []));
    const taken = new Set(results.map(({ call }) => call));
    const left = items.filter((item) => item.kind !== "result" || !taken.has(item.id));
    return { block: this.#shown(left), results };
  }

  #begin(lines: readonly Line[]): Block {
    this.#results.clear();
    this.#open.clear();
    return this.#shown([...this.#file.earlier(PART_BYTES), ...lines].flatMap(this.#items));
  }

  #late(result: ToolResult): Update["results"] {
    const call = this.#open.get(result.id);
    this.#open.delete(result.id);
    return call ? [{ call: call.id, ...resultOf(call, result) }] : [];
  }

  /** The part before the first one shown; undefined at the start of the conversation. */
  earlier(): Block | undefined {
    while (!this.#file.isWhole) {
      const block = this.#shown(this.#file.earlier(PART_BYTES).flatMap(this.#items));
      if (block.lines.length > 0) return block;
    }
    return undefined;
  }

  /** Keeps results whose calls lie further up until `earlier` reads those. */
  #shown(items: readonly Item[]): Block {
    for (const item of items) if (item.kind === "result") this.#results.set(item.id, item);
    const block = markdown(items, this.#results);
    for (const item of items) {
      if (item.kind === "tool" && !this.#results.delete(item.id)) this.#open.set(item.id, item);
    }
    return block;
  }
}
