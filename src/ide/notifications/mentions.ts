import type { Mention } from "../../editor/model";
import type { EditorPort } from "../../editor/port";
import type { Log } from "../../lib/log";
import type { Client } from "../../mcp/client";

/**
 * `at_mentioned` (spec 03), once each, in order, to the client that the user works with, else to the
 * one that was active last. Those that no client can take yet wait; Neovim withdraws what has waited
 * too long.
 */
export class Mentions {
  /** Who gets mentions, and whether the client takes them by now. */
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
