import type { EditorPort } from "../editor/port";
import type { Log } from "../lib/log";
import { type Client, isClaudeCode } from "../mcp/client";
import { watchOpenBuffers } from "../resources/open-buffers";
import { Audience } from "./audience";
import { announceDiagnostics } from "./diagnostics";
import { Mentions } from "./mentions";
import { SelectionNotifier } from "./selection";

/**
 * For so long after it connected the CLI drops what it is told: its listeners are set up 30 to 170 ms
 * after `ide_connected`, on a busy machine (measured with Claude Code 2.1.330), and it does not say when.
 */
const DEAF_MS = 600;

/** All that the server tells without being asked (specs 03 and 05). */
export class Notifications {
  readonly #audience = new Audience();
  readonly #selection: SelectionNotifier;
  readonly #mentions: Mentions;

  readonly #editor: EditorPort;

  constructor(editor: EditorPort, log: Log) {
    this.#editor = editor;
    this.#selection = new SelectionNotifier(editor, this.#audience);
    this.#mentions = new Mentions(editor, this.#audience, log);
    announceDiagnostics(editor, this.#audience);
    watchOpenBuffers(editor, () =>
      this.#audience.tell("notifications/resources/list_changed", undefined),
    );
    editor.onLogEvent.on(({ name, data }) =>
      this.#audience.tell("log_event", { eventName: name, eventData: data }),
    );
  }

  initialized(client: Client): void {
    this.#audience.add(client);
    void this.#selection.remind(client);
    if (!isClaudeCode(client)) this.#mentions.deliverTo(client, "now");
  }

  ideConnected(client: Client): void {
    this.#audience.add(client);
    void this.#selection.remind(client);
    if (!isClaudeCode(client)) return;
    this.#mentions.deliverTo(client, "soon");
    this.#later(client, DEAF_MS, () => this.#mentions.deliverTo(client, "now"));
  }

  /** The last that is heard of the CLI before it listens. What it missed until then comes again. */
  toolsListed(client: Client): void {
    if (!isClaudeCode(client)) return;
    this.#later(client, DEAF_MS, () => void this.#selection.remind(client));
  }

  gone(client: Client): void {
    this.#audience.remove(client);
    this.#mentions.deliver();
  }

  /** `closeAllDiffTabs` marks a prompt, with which the CLI has forgotten the selection. */
  toolCalled(name: string, client: Client): void {
    if (name !== "closeAllDiffTabs") return;
    void this.#selection.remind(client);
    if (client.pid !== undefined) this.#editor.prompted(client.pid);
  }

  #later(client: Client, ms: number, action: () => void): void {
    setTimeout(() => {
      if (this.#audience.has(client)) action();
    }, ms).unref();
  }
}
