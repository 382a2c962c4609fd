import { isAsking } from "../../claude/running-sessions";
import type { EditorPort } from "../../editor/port";
import type { Log } from "../../lib/log";
import type { Client } from "../../mcp/client";
import type { Diffs } from "./diffs";

/**
 * From the last `close_tab` of a rejected diff to the prompt of the CLI. It sends that call twice, some
 * ms apart, and then leaves the question on which Enter would mean Yes (measured with 2.1.330).
 */
const PROMPT_MS = 300;
/** A client is sent the reasons even if it never closes the tab of the diff. */
const CLOSES_MS = 3_000;
/** The resource of a reason, which the CLI names after the server that it found by the lock file. */
export const REASON = "rejection:reason";
const MENTION = `ide:${REASON}`;

/** The reasons for one client. */
interface Reasons {
  waiting: string[];
  /** Reasons that were mentioned, and are not read yet. */
  unread: string[];
  timer?: Timer;
}

/**
 * Why the user rejected proposals. Of its answer to openDiff the CLI reads DIFF_REJECTED alone
 * (2.1.330), then its turn ends. So Neovim submits the reason as the user's next prompt. A CLI outside
 * of Neovim gets a mention of it in its prompt, for the user to submit (`UserText`).
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

  /** The client closed the tab of a diff, as it does once it has the answer. */
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
    return text || "The user gave no reason that you have not received.";
  }

  /** About another edit, or about a command of a subagent. */
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
