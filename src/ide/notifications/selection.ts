import type { Selection } from "../../editor/model";
import type { EditorPort } from "../../editor/port";
import { fileUri } from "../../lib/file-uri";
import { type Client, isClaudeCode } from "../../mcp/client";
import { describeCursor } from "../../methods";

/** Each notification's parameters as they were sent last: a client gets the same only once. */
type Sent = Map<string, string>;

/** `selection_changed` (spec 03) for every client; spec 05's notifications for all but Claude Code. */
export class SelectionNotifier {
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
