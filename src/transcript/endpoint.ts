import { existsSync } from "node:fs";
import * as v from "valibot";
import { conversationsFolder, conversationsOf, transcriptOf } from "../claude/config-dir";
import type { EditorPort } from "../editor/methods";
import { attempt, Failure, message } from "../lib/errors";
import type { Log } from "../lib/log";
import { PathWatch } from "../lib/path-watch";
import { join } from "../lib/platform";
import { takes } from "../lib/requests";
import type { EndedCall } from "../review/unrecorded";
import { type Item, itemsOf, type ToHost, type ToolCall, type ToolResult } from "./entries";
import { type Line, TranscriptFile } from "./file";
import { type Block, markdown, resultOf } from "./markdown";
import { trailOf } from "./trail";
import { WatchedTranscript } from "./watched";

/** Groups the CLI's writes into one update. */
const DEBOUNCE_MS = 15;

const optional = v.optional(v.string());
/** `remote`: the name of the remote on which Claude runs. */
const Session = v.object({ session: v.string(), agent: optional, remote: optional });
const Watched = v.object({
  /** `off`: why the session's CLI runs no hooks. */
  sessions: v.array(v.object({ id: v.string(), cwd: v.string(), off: optional })),
});
const Trail = v.object({
  ...Session.entries,
  turn: v.union([v.picklist(["last", "all"]), v.number()]),
});
const Shown = v.object({ view: v.number() });
const Named = v.object({ view: v.number(), name: v.string(), folder: optional });

/** A conversation's file, which may not exist yet. */
interface Conversation {
  readonly path: string;
  readonly toHost?: ToHost;
}

/**
 * Answers Neovim's requests `transcript/…`, and reports additions to the conversations that it shows. Reads the CLI's
 * files and stores nothing.
 */
export class TranscriptEndpoint {
  readonly #views = new Map<number, View>();
  /** By session id. */
  readonly #watched = new Map<string, WatchedTranscript>();
  readonly #watch = new PathWatch(() => this.#soon());
  #last = 0;
  #timer: Timer | undefined;

  constructor(
    private readonly editor: Pick<EditorPort, "call">,
    private readonly log: Log,
    /** Copies a conversation from a remote. */
    private readonly copy?: (remote: string, session: string) => Promise<Conversation>,
    /** A call of a watched session has ended. `folder` is the folder in which its CLI was started. */
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

  #open({ path, toHost }: Conversation) {
    const view = new View(path, toHost);
    const update = readable(path, () => view.update());
    // Neovim shows each conversation once. Requests that are on their way keep their view.
    const known = [...this.#views].find(([, other]) => other.path === path);
    const id = known?.[0] ?? ++this.#last;
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

  /** Replaces the watched sessions. */
  #watchAll(sessions: v.InferOutput<typeof Watched>["sessions"]): void {
    for (const id of this.#watched.keys()) {
      if (!sessions.some((session) => session.id === id)) this.#watched.delete(id);
    }
    for (const { id, cwd, off } of sessions) {
      const path = transcriptOf(id) ?? expectedPath(id, cwd);
      if (this.#watched.get(id)?.path === path) continue;
      const onEnded = (call: Omit<EndedCall, "session" | "off">) =>
        this.onEnded?.(cwd, { session: id, off, ...call });
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
    // Changes made before the watch began caused no event, so look once more.
    if (this.#watch.follow(all)) this.#soon();
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // A folder that was missing may exist now.
      this.#follow();
      for (const [id, view] of this.#views) void this.#report(id, view);
      for (const [session, transcript] of this.#watched) {
        // The file may not exist.
        const news = attempt(() => transcript.news());
        if (news) void this.#send("transcript_news", { session, ...news });
      }
    }, DEBOUNCE_MS);
  }

  /** Sends one part at a time, so that Neovim can draw and read keys between them. */
  async #report(id: number, view: View): Promise<void> {
    if (view.isReporting) return;
    view.isReporting = true;
    while (this.#views.get(id) === view) {
      const update = view.updateOrProblem();
      if (!update) break;
      await this.#send("transcript_changed", { view: id, ...update });
    }
    view.isReporting = false;
  }

  async #send(method: "transcript_changed" | "transcript_news", update: object): Promise<void> {
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

/** The path to which the CLI will write the conversation. */
function expectedPath(session: string, cwd: string): string {
  return join(conversationsFolder(), conversationsOf(cwd), `${session.replaceAll("/", "-")}.jsonl`);
}

/** A conversation may have many MB. We show it in parts of this size, the last part first. */
const PART_BYTES = 64 * 1024;

/** A conversation on screen: its last part first, then new lines, and earlier parts on request. */
export class View {
  isReporting = false;
  #isUnreadable = false;
  readonly #file: TranscriptFile;
  /** Results of calls that earlier parts contain. */
  readonly #results = new Map<string, ToolResult>();
  /** Calls without a result yet. */
  readonly #open = new Map<string, ToolCall>();
  readonly #items = (line: Line) => itemsOf(line, this.toHost);

  constructor(
    readonly path: string,
    readonly toHost?: ToHost,
  ) {
    this.#file = new TranscriptFile(path);
  }

  /**
   * Returns what was added at the end, and the `results` of calls that were shown without one; undefined if nothing was
   * added. `answered`: it has the answer that Claude was writing. If `restarted`, the update replaces everything shown.
   * Throws if the file cannot be read.
   */
  update() {
    const { lines, restarted } = this.#file.appended();
    if (restarted) {
      this.#results.clear();
      this.#open.clear();
      const items = [...this.#file.earlier(PART_BYTES), ...lines].flatMap(this.#items);
      return { restarted, block: this.#shown(items), results: [] };
    }
    if (lines.length === 0) return undefined;
    const items = lines.flatMap(this.#items);
    const results = items.flatMap((item) => (item.kind === "result" ? this.#late(item) : []));
    const taken = new Set(results.map(({ call }) => call));
    const left = items.filter((item) => item.kind !== "result" || !taken.has(item.id));
    const answered = items.some(({ kind }) => kind === "text");
    return { block: this.#shown(left), results, answered };
  }

  /** Like `update`, but returns a problem, once, while the file cannot be read. */
  updateOrProblem(): object | undefined {
    try {
      const update = this.update();
      this.#isUnreadable = false;
      return update;
    } catch (error) {
      if (this.#isUnreadable) return undefined;
      this.#isUnreadable = true;
      return { problem: `${this.path} cannot be read: ${message(error)}` };
    }
  }

  #late(result: ToolResult) {
    const call = this.#open.get(result.id);
    this.#open.delete(result.id);
    return call ? [{ call: call.id, ...resultOf(call, result) }] : [];
  }

  /** The part before the first part shown; undefined at the start of the conversation. */
  earlier(): Block | undefined {
    while (!this.#file.isWhole) {
      const block = this.#shown(this.#file.earlier(PART_BYTES).flatMap(this.#items));
      if (block.lines.length > 0) return block;
    }
    return undefined;
  }

  /** Keeps results of earlier calls until `earlier` reads those calls. */
  #shown(items: readonly Item[]): Block {
    for (const item of items) if (item.kind === "result") this.#results.set(item.id, item);
    const block = markdown(items, this.#results);
    for (const item of items) {
      if (item.kind === "tool" && !this.#results.delete(item.id)) this.#open.set(item.id, item);
    }
    return block;
  }
}
