import type { EditorPort } from "../../editor/port";
import { loadedFiles } from "../../editor/state";
import { fileUri } from "../../lib/file-uri";
import type { Log } from "../../lib/log";
import { type Client, isClaudeCode } from "../../mcp/client";
import { Mentions } from "./mentions";
import { SelectionNotifier } from "./selection";

/**
 * How long the CLI ignores notifications after it asked for the tools, which is its last message
 * before it takes them; it does not say when (measured with Claude Code 2.1.330).
 */
const IGNORES_MS = 600;
/** Beside other programs, 400 ms were measured: the selection, which does no harm twice, is sent later, too. */
const SLOW_MS = [2_000, 5_000];

/** A CLI that has not asked for the tools after so long will not. */
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

  /** MCP's notification that other files are open. */
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

/** Does it once for a burst of calls. */
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
