import { isAsking } from "../../claude/running-sessions";
import type { EditorPort } from "../../editor/port";
import { ErrorCode, RpcError } from "../../jsonrpc/message";
import type { Log } from "../../lib/log";
import type { Client } from "../../mcp/client";
import type { Resources } from "../../mcp/definition";
import type { ResourceContents } from "../../mcp/protocol";
import type { Diffs } from "./diffs";

/**
 * From the last `close_tab` of a rejected diff to the prompt of the CLI. It sends that call twice, some
 * ms apart, and then leaves the question on which Enter would mean Yes (measured with 2.1.330).
 */
const PROMPT_MS = 300;
/** A client is sent the reasons even if it never closes the tab of the diff. */
const CLOSES_MS = 3_000;
/** From the list of resources to when the CLI resolves a mention of one (measured with 2.1.330). */
const LISTED_MS = 200;
/** Bounded: a prompt mentions what was sent last. */
const READABLE = 20;

const MIME_TYPE = "text/plain";
/** Without `//`: of two slashes in a mention the CLI drops one (measured with 2.1.330). */
const SCHEME = "rejection:";
/** How the CLI names the server that it found by the lock file. */
const SERVER = "ide";

export interface Rejection {
  path: string;
  reason: string;
}

interface Waiting extends Rejection {
  client: Client;
}

interface Readable {
  client: Client;
  uri: string;
  text: string;
  mentioned: boolean;
}

/**
 * Why the user rejected proposals. Of its answer to openDiff the CLI reads DIFF_REJECTED alone
 * (2.1.330), then its turn ends. So Neovim submits the reason as the user's next prompt. A CLI outside
 * of Neovim gets a mention of it in its prompt, for the user to submit: it is a resource then.
 */
export class Rejections implements Resources {
  readonly #timers = new Map<Client, Timer>();
  #waiting: Waiting[] = [];
  #readable: Readable[] = [];
  #nextId = 1;

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
    this.#readable = this.#readable.filter((resource) => resource.client !== client);
    const lost = this.#take(client);
    if (lost) void this.#send(client, lost, false);
  }

  list(client: Client) {
    const own = this.#readable.filter((resource) => resource.client === client);
    for (const resource of own) setTimeout(() => this.#mention(resource), LISTED_MS).unref();
    return own.map(({ uri }) => ({
      uri,
      mimeType: MIME_TYPE,
      name: "why the user rejected an edit",
    }));
  }

  read(uri: string, client: Client): ResourceContents {
    const found = this.#readable.find((one) => one.uri === uri && one.client === client);
    if (!found) throw new RpcError(ErrorCode.ResourceNotFound, `No such resource: ${uri}`, { uri });
    return { uri, mimeType: MIME_TYPE, text: found.text };
  }

  owns(uri: string): boolean {
    return uri.startsWith(SCHEME);
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
    if (text && !(await this.#send(client, text, true))) this.#offer(client, text);
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
      return await this.editor.submitPrompt({ pid: client.pid, text, connected });
    } catch (error) {
      this.log.warn(`Submitting the reason of a rejection failed: ${error}`);
      return false;
    }
  }

  /** As a resource: the CLI reads one that is mentioned only if it has it in its list. */
  #offer(client: Client, text: string): void {
    const uri = `${SCHEME}${this.#nextId++}`;
    this.#readable.push({ client, uri, text, mentioned: false });
    this.#readable = this.#readable.slice(-READABLE);
    client.notify("notifications/resources/list_changed", undefined);
  }

  #mention(resource: Readable): void {
    if (resource.mentioned || !this.#readable.includes(resource)) return;
    resource.mentioned = true;
    resource.client.notify("at_mentioned", { filePath: `${SERVER}:${resource.uri}` });
  }
}
