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

interface Rejection {
  path: string;
  reason: string;
}

interface Waiting extends Rejection {
  client: Client;
}

/**
 * Why the user rejected proposals. Of its answer to openDiff the CLI reads DIFF_REJECTED alone
 * (2.1.330), then its turn ends. So Neovim submits the reason as the user's next prompt. A CLI outside
 * of Neovim gets a mention of it in its prompt, for the user to submit (`userText`).
 */
export class Rejections {
  readonly #timers = new Map<Client, Timer>();
  #waiting: Waiting[] = [];
  /** What was mentioned, and not read yet. */
  readonly #unread = new Map<Client, string>();

  constructor(
    private readonly editor: EditorPort,
    private readonly diffs: Diffs,
    private readonly log: Log,
  ) {}

  /** The client is about to receive DIFF_REJECTED. */
  add(client: Client, rejection: Rejection): void {
    this.#waiting.push({ ...rejection, client });
    this.#deliverIn(client, CLOSES_MS);
  }

  /** The client closed the tab of a diff, as it does once it has the answer. */
  tabClosed(client: Client): void {
    const isWaiting = this.#waiting.some((one) => one.client === client);
    if (isWaiting) this.#deliverIn(client, PROMPT_MS);
  }

  gone(client: Client): void {
    clearTimeout(this.#timers.get(client));
    this.#timers.delete(client);
    this.#unread.delete(client);
    const lost = this.#take(client);
    if (lost) void this.#send(client, lost, false);
  }

  read(client: Client): string {
    const text = this.#unread.get(client) ?? "The user gave no reason that you have not received.";
    this.#unread.delete(client);
    return text;
  }

  /** About another edit, or about a command of a subagent. */
  #isAsking({ id, pid }: Client): boolean {
    return this.diffs.hasOpen(id) || (pid !== undefined && isAsking(pid));
  }

  #deliverIn(client: Client, ms: number): void {
    clearTimeout(this.#timers.get(client));
    const timer = setTimeout(() => void this.#deliver(client), ms);
    timer.unref();
    this.#timers.set(client, timer);
  }

  async #deliver(client: Client): Promise<void> {
    // Enter would answer the question.
    if (this.#isAsking(client)) return this.#deliverIn(client, PROMPT_MS);
    const text = this.#take(client);
    if (text && !(await this.#send(client, text, true))) this.#mention(client, text);
  }

  #take(client: Client): string | undefined {
    const own = this.#waiting.filter((one) => one.client === client);
    this.#waiting = this.#waiting.filter((one) => one.client !== client);
    if (own.length === 0) return undefined;
    return own.map(({ path, reason }) => `I rejected your edit of ${path}: ${reason}`).join("\n\n");
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

  #mention(client: Client, text: string): void {
    const before = this.#unread.get(client);
    this.#unread.set(client, before === undefined ? text : `${before}\n\n${text}`);
    client.notify("at_mentioned", { filePath: MENTION });
  }
}
