import type { EditorPort } from "../editor/port";
import type { Log } from "../lib/log";
import type { Client } from "../mcp/client";
import { Audience } from "./audience";
import { announceDiagnostics } from "./diagnostics";
import { Mentions } from "./mentions";
import { SelectionNotifier } from "./selection";

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
    editor.onLogEvent.on(({ name, data }) =>
      this.#audience.tell("log_event", { eventName: name, eventData: data }),
    );
  }

  /** The client finished its handshake (`initialized`), or says so once more (`ide_connected`). */
  ready(client: Client): void {
    this.#audience.add(client);
    void this.#selection.remind(client);
    this.#mentions.deliver();
  }

  gone(client: Client): void {
    this.#audience.remove(client);
  }

  /** `closeAllDiffTabs` marks a prompt, with which the CLI has forgotten the selection. */
  toolCalled(name: string, client: Client): void {
    if (name !== "closeAllDiffTabs") return;
    void this.#selection.remind(client);
    if (client.pid !== undefined) this.#editor.prompted(client.pid);
  }
}
