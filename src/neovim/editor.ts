import * as v from "valibot";
import {
  type Delta,
  DiffEnd,
  LogEvent,
  Mention,
  Selection,
  WithdrawnMentions,
} from "../editor/model";
import {
  EditorBusyError,
  type EditorPort,
  EditorRefusal,
  type FilePath,
  type OpenDiff,
  type OpenDocument,
  type OpenedDocument,
  type Prompt,
} from "../editor/port";
import type { EditorState } from "../editor/state";
import { withDeadline } from "../lib/deadline";
import { Emitter } from "../lib/emitter";
import type { Log } from "../lib/log";
import { realPath } from "../lib/paths";
import { CALL, unlessBusy, unwrap } from "./call";
import { Queries } from "./queries";
import { NeovimRequest } from "./requests";
import type { NeovimRpc } from "./rpc";
import { type ExecutableIdentity, StateMirror } from "./state-mirror";

/** How long Neovim may take to answer at all; longer means that it is busy. */
const BUSY_AFTER_MS = 1_000;
/** How long something may take that Neovim has begun, autocommands of other plugins included. */
const WORK_DEADLINE_MS = 10_000;
const UNFINISHED =
  "Neovim has begun this and has not finished after 10 s: check later whether it was done.";

const Opened = v.object({ language_id: v.string(), line_count: v.number() });

const Part = v.object({ text: v.string(), tick: v.number(), next: v.optional(v.number()) });
/** Of a document that changes while it is read. */
const MOST_READS = 10;
/** Neovim refuses a proposal of more than 1 MB: of a bigger one it need not receive all to say so. */
const PROPOSAL_BYTES = 1024 * 1024 + 4;

const Saved = v.object({ problem: v.optional(v.string()) });

/** EditorPort over msgpack-RPC with `lua/claude-code/editor`. */
export class NeovimEditor extends Queries implements EditorPort {
  readonly onDelta: Emitter<Delta>;
  readonly onDiffEnd = new Emitter<DiffEnd>();
  readonly onSelection = new Emitter<Selection>();
  readonly onMention = new Emitter<Mention>();
  readonly onMentionsWithdrawn = new Emitter<readonly number[]>();
  readonly onLogEvent = new Emitter<LogEvent>();
  readonly onRequest = new Emitter<NeovimRequest>();
  readonly #mirror: StateMirror;
  latestSelection: Selection | undefined;

  /** `folders`: the workspace folders, as far as they are known before Neovim reports them. */
  constructor(
    private readonly rpc: NeovimRpc,
    private readonly log: Log,
    folders: string[] = [],
  ) {
    super();
    this.#mirror = new StateMirror(rpc, folders);
    this.onDelta = this.#mirror.onDelta;
    rpc.onNotification.on(({ method, args }) => {
      if (method === "claude_code") this.#receive(String(args[0]), args[1]);
    });
  }

  get state(): EditorState {
    return this.#mirror.state;
  }

  /** Makes us known to Neovim and takes its whole state. Waits as long as Neovim is busy. */
  attach(identity: ExecutableIdentity): Promise<void> {
    return this.#mirror.attach(identity);
  }

  async sync(deadlineMs = BUSY_AFTER_MS): Promise<EditorState> {
    await unlessBusy(withDeadline(this.#mirror.pull(), deadlineMs, "Neovim"));
    return this.state;
  }

  async openDiff(diff: OpenDiff): Promise<void> {
    const { id, client, name, remote } = diff;
    const contents = cut(diff.contents, PROPOSAL_BYTES);
    const paths = { old_path: diff.oldPath, new_path: diff.newPath };
    const whose = { client, ...(remote !== undefined && { remote }) };
    const params = { id, ...whose, ...paths, contents, ...(name !== undefined && { name }) };
    await this.call("diff_open", params, Number.POSITIVE_INFINITY);
  }

  async closeDiffs(ids: readonly number[]): Promise<number> {
    if (ids.length === 0) return 0;
    return Number(await this.call("diff_close", { ids }, Number.POSITIVE_INFINITY));
  }

  async keepUnwritten(path: FilePath, text: string, problem: string): Promise<void> {
    await this.call("diff_unwritten", { path, text, problem }, Number.POSITIVE_INFINITY);
  }

  async openDocument(document: OpenDocument): Promise<OpenedDocument> {
    const { startText, endText, folders } = document;
    const opened = await this.#work("document_open", {
      path: document.path,
      select_to_eol: document.selectToEndOfLine,
      front: document.front,
      ...(folders && { folders }),
      ...(startText !== undefined && { start_text: startText }),
      ...(endText !== undefined && { end_text: endText }),
    });
    const { language_id, line_count } = v.parse(Opened, opened);
    return { languageId: language_id, lineCount: line_count };
  }

  async saveDocument(path: FilePath): Promise<{ problem?: string | undefined }> {
    return v.parse(Saved, await this.#work("document_save", { path }));
  }

  async readDocument(path: FilePath, shared?: readonly string[]): Promise<string> {
    for (let tries = 0; tries < MOST_READS; tries++) {
      const text = await this.#readParts({ path, ...(shared && { shared }) });
      if (text !== undefined) return text;
    }
    throw new EditorBusyError();
  }

  /** The document, which Neovim gives a moment at a time; undefined if it changed in between. */
  async #readParts(document: object): Promise<string | undefined> {
    const parts: string[] = [];
    let tick: number | undefined;
    for (let from: number | undefined = 0; from !== undefined; ) {
      const answer = await this.call("document_text", { ...document, from });
      const part: v.InferOutput<typeof Part> = v.parse(Part, answer);
      tick ??= part.tick;
      if (part.tick !== tick) return undefined;
      parts.push(part.text);
      from = part.next;
    }
    return parts.join("");
  }

  async refreshSelection(detailed = false): Promise<Selection | undefined> {
    const params = { detailed, for_client: true };
    const answer = await this.call("latest_selection", params);
    this.latestSelection = v.parse(v.optional(Selection), answer);
    return this.latestSelection;
  }

  async currentSelection(): Promise<Selection | undefined> {
    const selection = await this.call("selection", {});
    return v.parse(v.optional(Selection), selection);
  }

  async mentionsDelivered(ids: readonly number[], pid: number | undefined): Promise<void> {
    await this.call("mentions_delivered", { ids, pid }, Number.POSITIVE_INFINITY);
  }

  async reloadDocument(path: FilePath): Promise<void> {
    await this.call("document_reload", { path }, WORK_DEADLINE_MS);
  }

  watchDocument(path: FilePath): void {
    this.call("document_watch", { path }, WORK_DEADLINE_MS).catch((error) =>
      this.log.warn(`Watching ${path} failed: ${error}`, "Watching a file failed"),
    );
  }

  async submitPrompt({ pid, text, connected }: Prompt): Promise<boolean> {
    const params = { text, connected, ...(pid !== undefined && { pid }) };
    return (await this.call("prompt_submit", params, Number.POSITIVE_INFINITY)) === true;
  }

  async takeComments(): Promise<string> {
    return v.parse(v.string(), await this.call("review_comments", {}));
  }

  async closeTab(tab: { path: FilePath } | { name: string }): Promise<void> {
    await this.#work("tab_close", tab);
  }

  loadedFiles(): string[] {
    const paths = this.state.buffers.flatMap(({ loaded, path }) => (loaded && path ? [path] : []));
    return paths.map((path) => realPath(path));
  }

  async call(method: string, params: object, deadlineMs = BUSY_AFTER_MS): Promise<unknown> {
    const answer = this.rpc.request("nvim_exec_lua", [CALL, [method, params]], deadlineMs);
    return unwrap(await unlessBusy(answer));
  }

  /** For what Neovim has to know, however long it is busy. */
  report(method: string, params: object): Promise<unknown> {
    return this.call(method, params, Number.POSITIVE_INFINITY);
  }

  /** A call with effects: not sent at all unless Neovim answers, so that it never happens late. */
  async #work(method: string, params: object): Promise<unknown> {
    await this.sync();
    return this.call(method, params, WORK_DEADLINE_MS).catch((error) => {
      throw error instanceof EditorBusyError ? new EditorRefusal(UNFINISHED) : error;
    });
  }

  #select(selection: Selection): void {
    this.latestSelection = selection.path === "" ? undefined : selection;
    this.onSelection.emit(selection);
  }

  #receive(event: string, payload: unknown): void {
    try {
      switch (event) {
        case "state":
          return this.#mirror.take(payload);
        case "diff_ended":
          return this.onDiffEnd.emit(v.parse(DiffEnd, payload));
        case "selection":
          return this.#select(v.parse(Selection, payload));
        case "mention":
          return this.onMention.emit(v.parse(Mention, payload));
        case "mentions_withdrawn":
          return this.onMentionsWithdrawn.emit(v.parse(WithdrawnMentions, payload).ids);
        case "log_event":
          return this.onLogEvent.emit(v.parse(LogEvent, payload));
        case "request":
          return this.onRequest.emit(v.parse(NeovimRequest, payload));
        default:
          this.log.warn(`Neovim sent an event we do not know: ${event}`);
      }
    } catch (error) {
      this.log.error(`Event ${event} of Neovim failed: ${error}`);
    }
  }
}

/** The begin of a text, where it has more bytes in UTF-8 than that. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  return Buffer.from(text).subarray(0, bytes).toString();
}
