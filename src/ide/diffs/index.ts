import { isAsking } from "../../claude/running-sessions";
import type { EditorPort } from "../../editor/methods";
import type { DiffEnd, FilePath } from "../../editor/model";
import { withDeadline } from "../../lib/deadline";
import type { Log } from "../../lib/log";
import type { Client } from "../../mcp/protocol";

/** Neovim refuses proposals over 1 MB. It gets just enough of a longer one to see that it is too long. */
const PROPOSAL_BYTES = 1024 * 1024 + 4;

interface DiffRequest {
  client: number;
  remote?: string | undefined;
  oldPath: FilePath;
  newPath: FilePath;
  contents: string;
  name?: string | undefined;
}

/** `text` is the final text: exactly the proposal, unless the user edited it. */
type DiffOutcome =
  | { accepted: true; text: string }
  | { accepted: false; reason?: string | undefined };

const REMEMBERED_NAMES = 100;
const CLOSING_MS = 1_000;

const REJECTED: DiffOutcome = { accepted: false };

interface PendingDiff extends DiffRequest {
  id: number;
  end(outcome: DiffOutcome): void;
}

/** The diffs that wait for the user. Each ends exactly once. */
export class Diffs {
  readonly #pending = new Map<number, PendingDiff>();
  readonly #names = new Set<string>();
  #nextId = 1;

  constructor(
    private readonly editor: EditorPort,
    private readonly log: Log,
  ) {
    editor.on("diff_ended", (end) => this.#ended(end));
  }

  /** Shows a proposal. Resolves when the user decides, the diff is closed, or `signal` aborts. */
  async open(request: DiffRequest, signal: AbortSignal): Promise<DiffOutcome> {
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<DiffOutcome>();
    this.#pending.set(id, { ...request, id, end: resolve });
    this.#rememberName(request.name);
    const abort = () => void this.#close([id]);
    signal.addEventListener("abort", abort, { once: true });
    try {
      const { oldPath, newPath, contents, ...rest } = request;
      const shown = this.editor.call("diff_open", {
        id,
        ...rest,
        old_path: oldPath,
        new_path: newPath,
        contents: Buffer.from(contents).subarray(0, PROPOSAL_BYTES).toString(),
      });
      return await Promise.race([promise, shown.then(() => promise)]);
    } finally {
      this.#pending.delete(id);
      signal.removeEventListener("abort", abort);
    }
  }

  /** Rejects the diffs that the client opened under this name. Resolves to their number. */
  closeNamed(client: number, name: string): Promise<number> {
    return this.#closeWhere((diff) => diff.client === client && diff.name === name);
  }

  hasOpen(client: number): boolean {
    return [...this.#pending.values()].some((diff) => diff.client === client);
  }

  /** True for the names of the latest diffs of all clients, even after they were closed. */
  isDiffName(name: string): boolean {
    return this.#names.has(name);
  }

  /** Rejects all diffs of one client, which asked for it or is gone. Resolves to their number. */
  closeOf(client: number): Promise<number> {
    return this.#closeWhere((diff) => diff.client === client);
  }

  /** Rejects all diffs without closing them: Neovim is ending. */
  rejectAll(): void {
    for (const diff of this.#pending.values()) diff.end(REJECTED);
  }

  /** Keeps only the latest names: a call of close_tab follows soon. */
  #rememberName(name: string | undefined): void {
    if (name === undefined) return;
    this.#names.delete(name);
    this.#names.add(name);
    const [oldest] = this.#names;
    if (this.#names.size > REMEMBERED_NAMES) this.#names.delete(oldest as string);
  }

  #closeWhere(matches: (diff: PendingDiff) => boolean): Promise<number> {
    const found = [...this.#pending.values()].filter(matches);
    return this.#close(found.map((diff) => diff.id));
  }

  /**
   * Rejects the diffs, then closes them in Neovim. A busy Neovim closes them later; the caller does not wait for it,
   * since only openDiff may take that long.
   */
  async #close(ids: number[]): Promise<number> {
    for (const id of ids) {
      this.#pending.get(id)?.end(REJECTED);
      this.#pending.delete(id);
    }
    try {
      if (ids.length > 0)
        await withDeadline(this.editor.call("diff_close", { ids }), CLOSING_MS, "Neovim");
    } catch (error) {
      this.log.warn(`Closing a diff in Neovim failed: ${error}`);
    }
    return ids.length;
  }

  #ended({ id, outcome, text, reason }: DiffEnd): void {
    const diff = this.#pending.get(id);
    if (!diff) return;
    if (outcome === "rejected") return diff.end({ accepted: false, reason });
    diff.end({ accepted: true, text: text ?? diff.contents });
  }
}

/**
 * The time in ms from the last `close_tab` of a rejected diff until the CLI shows its prompt. The CLI sends `close_tab`
 * twice, a few ms apart, and only then closes the question in which Enter would mean Yes (measured with 2.1.330).
 */
const PROMPT_MS = 300;
/** After this time, in ms, a client gets the reasons even if it has not closed the tab of the diff. */
const CLOSES_MS = 3_000;
/** The resource with the reasons. A mention of it begins with the CLI's name for our server, "ide". */
export const REASON = "rejection:reason";
const MENTION = `ide:${REASON}`;

interface Reasons {
  waiting: string[];
  /** The client got a mention of these, but has not read them yet. */
  unread: string[];
  timer?: Timer;
}

/**
 * Delivers the reasons for which the user rejected proposals. The CLI (2.1.330) ignores everything but DIFF_REJECTED in
 * the answer to openDiff, and ends its turn. Neovim then submits the reason as the user's next prompt. A CLI outside of
 * Neovim gets a mention of it in its prompt instead, for the user to submit (`UserText`).
 */
export class Rejections {
  readonly #reasons = new Map<Client, Reasons>();

  constructor(
    private readonly editor: EditorPort,
    private readonly diffs: Diffs,
    private readonly log: Log,
  ) {}

  /** The client is about to receive DIFF_REJECTED. */
  add(client: Client, path: string, reason: string): void {
    const own = this.#reasons.get(client) ?? { waiting: [], unread: [] };
    this.#reasons.set(client, own);
    own.waiting.push(`I rejected your edit of ${path}: ${reason}`);
    this.#deliverIn(client, own, CLOSES_MS);
  }

  /** The client closes the tab of a diff once it has the answer. */
  tabClosed(client: Client): void {
    const own = this.#reasons.get(client);
    if (own && own.waiting.length > 0) this.#deliverIn(client, own, PROMPT_MS);
  }

  gone(client: Client): void {
    const own = this.#reasons.get(client);
    this.#reasons.delete(client);
    clearTimeout(own?.timer);
    if (own && own.waiting.length > 0) void this.#send(client, own.waiting.join("\n\n"), false);
  }

  read(client: Client): string {
    const text = this.#reasons.get(client)?.unread.splice(0).join("\n\n");
    return text || "You have already received every reason that the user gave.";
  }

  /** The CLI may ask about another edit, or about a command of a subagent. */
  #isAsking({ id, pid }: Client): boolean {
    return this.diffs.hasOpen(id) || (pid !== undefined && isAsking(pid));
  }

  #deliverIn(client: Client, own: Reasons, ms: number): void {
    clearTimeout(own.timer);
    own.timer = setTimeout(() => void this.#deliver(client, own), ms).unref();
  }

  async #deliver(client: Client, own: Reasons): Promise<void> {
    // Enter would answer the question.
    if (this.#isAsking(client)) return this.#deliverIn(client, own, PROMPT_MS);
    const text = own.waiting.splice(0).join("\n\n");
    if (await this.#send(client, text, true)) return;
    own.unread.push(text);
    client.notify("at_mentioned", { filePath: MENTION });
  }

  /** Resolves to whether Neovim submitted the text as a prompt. */
  async #send(client: Client, text: string, connected: boolean): Promise<boolean> {
    try {
      const { pid } = client;
      return (await this.editor.call("prompt_submit", { pid, text, connected })) === true;
    } catch (error) {
      this.log.warn(`Submitting the reason of a rejection failed: ${error}`);
      return false;
    }
  }
}
