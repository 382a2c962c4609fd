import type { Selection } from "../../editor/model";
import type { EditorPort } from "../../editor/port";
import { fileUri } from "../../lib/file-uri";
import { type Client, isClaudeCode } from "../../mcp/client";
import { describeCursor } from "../../methods/position";
import type { Subscribers } from "./subscribers";

/** A notification as it was sent last, so that nobody is told the same twice. */
type Told = Map<string, string>;

/** `selection_changed` (spec 03) for everybody; spec 05's notifications for all but Claude Code. */
export class SelectionNotifier {
  readonly #editor: EditorPort;
  readonly #told = new WeakMap<Client, Told>();

  constructor(editor: EditorPort, subscribers: Subscribers) {
    this.#editor = editor;
    editor.onSelection.on((selection) => {
      for (const client of subscribers) this.#tell(client, selection);
    });
  }

  /**
   * Tells a client the latest selection, whatever it was told before: the CLI forgets it with every
   * prompt and every new connection (measured with Claude Code 2.1.330).
   */
  async resend(client: Client): Promise<void> {
    this.#told.delete(client);
    const selection = await this.#latest(client);
    if (selection) this.#tell(client, selection);
  }

  /** Neovim may be busy, with what is more urgent than the client's need to know. */
  async #latest(client: Client): Promise<Selection | undefined> {
    try {
      return await this.#editor.refreshSelection(!isClaudeCode(client));
    } catch {
      return this.#editor.latestSelection;
    }
  }

  #tell(client: Client, selection: Selection): void {
    this.#notify(client, "selection_changed", selectionChanged(selection));
    if (isClaudeCode(client)) return;
    const { region = noneOf(selection), cursor } = selection;
    if (region) this.#notify(client, "editor/selection_changed", region);
    if (cursor) this.#notify(client, "editor/position_changed", describeCursor(cursor));
  }

  #notify(client: Client, method: string, params: object): void {
    const told = this.#told.get(client) ?? new Map<string, string>();
    this.#told.set(client, told);
    const text = JSON.stringify(params);
    if (told.get(method) === text) return;
    told.set(method, text);
    client.notify(method, params);
  }
}

/** Of a file that was closed nothing is selected any more. */
function noneOf({ path }: Selection): { active: false } | undefined {
  return path === "" ? { active: false } : undefined;
}

/** Without a file: an empty `filePath`, by which the CLI drops what it was told before. */
function selectionChanged({ path, text, start, end, empty }: Selection): object {
  return {
    text,
    filePath: path,
    fileUrl: path === "" ? "" : fileUri(path),
    selection: { start, end, isEmpty: empty },
  };
}
