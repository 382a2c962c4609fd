import type { EditorPort } from "../editor/methods";
import type { Mention, Selection } from "../editor/model";
import { loadedFiles } from "../editor/state";
import { fileUri } from "../lib/file-uri";
import type { Log } from "../lib/log";
import { type Client, isClaudeCode } from "../mcp/protocol";
import { describeCursor } from "../methods";

/**
 * How long the CLI ignores notifications after it asked for the tools, which is its last message
 * before it takes them; it does not say when (measured with Claude Code 2.1.330).
 */
const IGNORES_MS = 600;
/** Beside other programs, 400 ms were measured: the selection, which does no harm twice, is sent later, too. */
const SLOW_MS = [2_000, 5_000];

/** A CLI that has not asked for the tools by then will not. */
const ASKS_MS = 3_000;

/** A language server reports on many files at once, and a session opens many: each is one change. */
const FOLD_MS = 100;

/** All that the server sends without being asked (specs 03 and 05). */
export class Notifications {
  /** The clients that have finished their handshake and take notifications. */
  readonly #subscribers = new Set<Client>();
  readonly #selection: SelectionNotifier;
  readonly #mentions: Mentions;

  constructor(editor: EditorPort, log: Log) {
    this.#selection = new SelectionNotifier(editor, this.#subscribers);
    this.#mentions = new Mentions(editor, this.#subscribers, log);
    this.#notifyDiagnostics(editor);
    this.#notifyResources(editor);
    editor.on("log_event", ({ name, data }) => {
      // The CLI would only count them in its telemetry.
      for (const client of this.#subscribers) {
        if (!isClaudeCode(client)) client.notify("log_event", { eventName: name, eventData: data });
      }
    });
  }

  initialized(client: Client): void {
    this.#subscribers.add(client);
    void this.#selection.resend(client);
    if (!isClaudeCode(client)) this.#mentions.deliverTo(client, "now");
  }

  ideConnected(client: Client): void {
    this.#subscribers.add(client);
    void this.#selection.resend(client);
    if (!isClaudeCode(client)) return;
    this.#mentions.deliverTo(client, "soon");
    this.#later(client, ASKS_MS, () => this.#mentions.deliverTo(client, "now"));
  }

  /** Sends again what the CLI has ignored, and only now what it would have ignored. */
  toolsListed(client: Client): void {
    if (!isClaudeCode(client)) return;
    this.#later(client, IGNORES_MS, () => {
      void this.#selection.resend(client);
      this.#mentions.deliverTo(client, "now");
    });
    for (const ms of SLOW_MS) this.#later(client, ms, () => void this.#selection.resend(client));
  }

  gone(client: Client): void {
    this.#subscribers.delete(client);
    this.#mentions.deliver();
  }

  /** `closeAllDiffTabs` marks a prompt, with which the CLI forgets the selection. */
  toolCalled(name: string, client: Client): void {
    if (name !== "closeAllDiffTabs") return;
    void this.#selection.resend(client);
  }

  #later(client: Client, ms: number, action: () => void): void {
    setTimeout(() => {
      if (this.#subscribers.has(client)) action();
    }, ms).unref();
  }

  /** `diagnostics_changed` (spec 03) with the files whose diagnostics changed. */
  #notifyDiagnostics(editor: EditorPort): void {
    const changed = new Set<string>();
    const notify = folded(() => {
      this.#notify("diagnostics_changed", { uris: [...changed].map((path) => fileUri(path)) });
      changed.clear();
    });
    editor.on("state", ({ diagnostics = [] }) => {
      for (const { path } of diagnostics) changed.add(path);
      if (changed.size > 0) notify();
    });
  }

  /** MCP's notification that the open files have changed. */
  #notifyResources(editor: EditorPort): void {
    let sent = "";
    const compare = folded(() => {
      const now = JSON.stringify(loadedFiles(editor.state).map(({ path }) => path));
      if (now === sent) return;
      sent = now;
      this.#notify("notifications/resources/list_changed", undefined);
    });
    editor.on("state", ({ full, buffers, removed }) => {
      if (full || buffers || removed) compare();
    });
  }

  /** Sends one notification to every client. */
  #notify(method: string, params: unknown): void {
    for (const client of this.#subscribers) client.notify(method, params);
  }
}

/** Runs once for a burst of calls. */
function folded(action: () => void): () => void {
  let timer: Timer | undefined;
  return () => {
    if (timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      action();
    }, FOLD_MS);
  };
}

/** Each notification's parameters as they were sent last: a client gets the same only once. */
type Sent = Map<string, string>;

/** `selection_changed` (spec 03) for every client; spec 05's notifications for all but Claude Code. */
class SelectionNotifier {
  readonly #sent = new WeakMap<Client, Sent>();

  constructor(
    private readonly editor: EditorPort,
    subscribers: ReadonlySet<Client>,
  ) {
    editor.on("selection", (selection) => {
      for (const client of subscribers) this.#send(client, selection);
    });
  }

  /**
   * Sends a client the latest selection, whatever it got before: the CLI forgets it with every
   * prompt and every new connection (measured with Claude Code 2.1.330).
   */
  async resend(client: Client): Promise<void> {
    this.#sent.delete(client);
    const latest = this.editor.refreshSelection(!isClaudeCode(client));
    // The last known one serves where Neovim is busy.
    const selection = await latest.catch(() => this.editor.latestSelection);
    if (selection) this.#send(client, selection);
  }

  #send(client: Client, selection: Selection): void {
    this.#notify(client, "selection_changed", selectionChanged(selection));
    if (isClaudeCode(client)) return;
    // A file that was closed has no selection any more.
    const none = selection.path === "" ? { active: false } : undefined;
    const { region = none, cursor } = selection;
    if (region) this.#notify(client, "editor/selection_changed", region);
    if (cursor) this.#notify(client, "editor/position_changed", describeCursor(cursor));
  }

  #notify(client: Client, method: string, params: object): void {
    const sent = this.#sent.get(client) ?? new Map<string, string>();
    this.#sent.set(client, sent);
    const text = JSON.stringify(params);
    if (sent.get(method) === text) return;
    sent.set(method, text);
    client.notify(method, params);
  }
}

/** Without a file: an empty `filePath`, by which the CLI drops the selection it had. */
function selectionChanged({ path, text, start, end, empty }: Selection): object {
  return {
    text,
    filePath: path,
    fileUrl: path === "" ? "" : fileUri(path),
    selection: { start, end, isEmpty: empty },
  };
}

/**
 * `at_mentioned` (spec 03), once each, in order, to the client that the user works with, else to the
 * one that was active last. A mention that no client can take yet waits; Neovim withdraws it if it waits
 * too long.
 */
export class Mentions {
  /** The clients that get mentions, and whether they take them by now. */
  readonly #recipients = new WeakMap<Client, "soon" | "now">();
  #waiting: Mention[] = [];

  constructor(
    private readonly editor: EditorPort,
    private readonly subscribers: ReadonlySet<Client>,
    private readonly log: Log,
  ) {
    editor.on("mention", (mention) => {
      this.#waiting.push(mention);
      this.deliver();
    });
    editor.on("mentions_withdrawn", ({ ids }) => {
      this.#waiting = this.#waiting.filter(({ id }) => !ids.includes(id));
    });
  }

  /** The client can take mentions from now on, or will soon: then what is meant for it waits. */
  deliverTo(client: Client, when: "soon" | "now"): void {
    this.#recipients.set(client, when);
    this.deliver();
  }

  /** Hands over what waits, where its recipient is there. */
  deliver(): void {
    const byClient = Map.groupBy(this.#waiting, (mention) => this.#recipient(mention));
    this.#waiting = byClient.get(undefined) ?? [];
    for (const [client, mentions] of byClient) if (client) this.#send(client, mentions);
  }

  #recipient({ pid, path }: Mention): Client | undefined {
    const known = (candidate: Client) =>
      this.#recipients.has(candidate) && (candidate.remote?.sees(path) ?? true);
    const wanted = (candidate: Client) => known(candidate) && candidate.pid === pid;
    const client =
      (pid === undefined ? undefined : this.#lastActive(wanted)) ?? this.#lastActive(known);
    return client && this.#recipients.get(client) === "now" ? client : undefined;
  }

  /** The client that sent something last; of two at the same time the newer one. */
  #lastActive(wanted: (client: Client) => boolean): Client | undefined {
    const found = [...this.subscribers].filter(wanted);
    return found.sort((a, b) => a.lastActive - b.lastActive).at(-1);
  }

  #send(client: Client, mentions: readonly Mention[]): void {
    for (const mention of mentions) client.notify("at_mentioned", atMentioned(mention));
    const ids = mentions.map(({ id }) => id);
    this.editor
      .call("mentions_delivered", { ids, pid: client.pid })
      .catch((error) => this.log.warn(`Reporting delivered mentions failed: ${error}`));
  }
}

/** The line fields are left out without a range: the CLI ignores a mention with nulls. */
function atMentioned({ path, line_start, line_end }: Mention): object {
  if (line_start === undefined || line_end === undefined) return { filePath: path };
  return { filePath: path, lineStart: line_start, lineEnd: line_end };
}
