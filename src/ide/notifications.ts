import type { EditorPort } from "../editor/methods";
import type { Mention, Selection } from "../editor/model";
import { loadedFiles } from "../editor/state";
import { fileUri } from "../lib/file-uri";
import type { Log } from "../lib/log";
import { native } from "../lib/platform";
import { type Client, isClaudeCode } from "../mcp/protocol";
import { describeCursor } from "../methods";

/**
 * For this time, in ms, the CLI ignores notifications after it has asked for the tools. That is its last message before
 * it accepts notifications (measured with 2.1.330).
 */
const IGNORES_MS = 600;
/** On a slow machine the CLI may take longer, so we send the selection again then; repeating it does no harm. */
const SLOW_MS = [2_000, 5_000];

/** A CLI that has not asked for the tools after this time, in ms, will not ask. */
const ASKS_MS = 3_000;

/** Combines the changes within this time, in ms: a language server reports on many files, and a session opens many. */
const FOLD_MS = 100;

/** Sends all notifications of the server (specs 03 and 05). */
export class Notifications {
  /** The clients that have finished their handshake. */
  readonly #subscribers = new Set<Client>();
  readonly #selection: SelectionNotifier;
  readonly #mentions: Mentions;

  constructor(editor: EditorPort, log: Log) {
    this.#selection = new SelectionNotifier(editor, this.#subscribers);
    this.#mentions = new Mentions(editor, this.#subscribers, log);
    this.#notifyDiagnostics(editor);
    this.#notifyResources(editor);
    editor.on("log_event", ({ name, data }) => {
      // The CLI uses these events only for its telemetry.
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

  /** Sends the selection again, which the CLI has ignored so far, and the mentions, which waited for this. */
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

  /** The CLI calls `closeAllDiffTabs` when the user submits a prompt, and then forgets the selection. */
  toolCalled(name: string, client: Client): void {
    if (name !== "closeAllDiffTabs") return;
    void this.#selection.resend(client);
  }

  #later(client: Client, ms: number, action: () => void): void {
    setTimeout(() => {
      if (this.#subscribers.has(client)) action();
    }, ms).unref();
  }

  /** Sends `diagnostics_changed` (spec 03) with the files whose diagnostics have changed. */
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

  /** Sends MCP's notification when the open files have changed. */
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

  #notify(method: string, params: unknown): void {
    for (const client of this.#subscribers) client.notify(method, params);
  }
}

/** Runs `action` once for all calls within FOLD_MS. */
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

/** The last parameters of each notification. A client does not get the same parameters twice. */
type Sent = Map<string, string>;

/** Sends `selection_changed` (spec 03) to every client, and the notifications of spec 05 to all but Claude Code. */
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
   * Sends the latest selection again, even if the client has it: the CLI forgets the selection with every prompt and
   * every new connection (measured with 2.1.330).
   */
  async resend(client: Client): Promise<void> {
    this.#sent.delete(client);
    const latest = this.editor.refreshSelection(!isClaudeCode(client));
    // If Neovim is busy, send the last known one.
    const selection = await latest.catch(() => this.editor.latestSelection);
    if (selection) this.#send(client, selection);
  }

  #send(client: Client, selection: Selection): void {
    this.#notify(client, "selection_changed", selectionChanged(selection));
    if (isClaudeCode(client)) return;
    // No file is open, so nothing is selected.
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

/** If no file is open, `filePath` is empty, and the CLI drops its selection. */
function selectionChanged({ path, text, start, end, empty }: Selection): object {
  return {
    text,
    filePath: native(path),
    fileUrl: path === "" ? "" : fileUri(path),
    selection: { start, end, isEmpty: empty },
  };
}

/**
 * Sends each mention once, and in order, as `at_mentioned` (spec 03). It goes to the client that the user works with,
 * or else to the client that was active last. A mention waits until a client can take it; Neovim withdraws it if that
 * takes too long.
 */
export class Mentions {
  /** The clients that take mentions, now or soon. */
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

  /** The client can take mentions now, or will soon. In the latter case its mentions wait. */
  deliverTo(client: Client, when: "soon" | "now"): void {
    this.#recipients.set(client, when);
    this.deliver();
  }

  /** Sends the waiting mentions whose recipients can take them. */
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

  /** The client that sent the latest message; the newer client if two did at the same time. */
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

/** Leaves out the line fields if there is no range: the CLI ignores a mention with nulls. */
function atMentioned({ path, line_start, line_end }: Mention): object {
  if (line_start === undefined || line_end === undefined) return { filePath: native(path) };
  return { filePath: native(path), lineStart: line_start, lineEnd: line_end };
}
