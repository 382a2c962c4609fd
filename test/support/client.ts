import type { LockContent } from "../../src/ide/lock-file";
import { eventually } from "./eventually";

export interface ToolAnswer {
  content: { type: string; text: string }[];
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

/** Shorter than the timeout of any test that waits for one, so that the failure names the request. */
const ANSWER_TIMEOUT_MS = 40_000;

export const AUTHORIZATION = "x-claude-code-ide-authorization";

interface Message {
  id?: number | string | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string };
}

/** A refusal of the server, with its JSON-RPC code. */
export class CallError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * A request for an upgrade; a header that is undefined is left out. By hand, because no HTTP client
 * lets its user choose Host and Origin freely.
 */
export function upgradeRequest(
  port: number,
  authToken: string,
  headers: Record<string, string | undefined> = {},
): string {
  const all = {
    Host: `127.0.0.1:${port}`,
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    [AUTHORIZATION]: authToken,
    ...headers,
  };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  return httpRequest(["GET / HTTP/1.1", ...given.map(([name, value]) => `${name}: ${value}`)]);
}

export const httpRequest = (lines: string[]) => `${lines.join("\r\n")}\r\n\r\n`;

/** A plain MCP client on the WebSocket, as Claude Code is one. */
export class TestClient implements Disposable {
  /** Every message the server sent, oldest first. */
  readonly received: Message[] = [];
  readonly closed: Promise<CloseEvent>;
  readonly #socket: WebSocket;
  readonly #pending = new Map<number | string, PromiseWithResolvers<unknown>>();
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.addEventListener("close", resolve));
    socket.addEventListener("message", (event) => this.#receive(String(event.data)));
    socket.addEventListener("close", ({ code, reason }) => {
      const error = new Error(`connection closed: ${code} ${reason}`);
      for (const pending of this.#pending.values()) pending.reject(error);
    });
  }

  /** Connects with the lock's token, or with other headers. Rejects when the upgrade is refused. */
  static connect(
    lock: { port: number; content: Pick<LockContent, "authToken"> },
    headers: Record<string, string> = {},
  ): Promise<TestClient> {
    const socket = new WebSocket(`ws://127.0.0.1:${lock.port}/`, {
      protocols: ["mcp"],
      headers: { [AUTHORIZATION]: lock.content.authToken, ...headers },
    } as never);
    const client = new TestClient(socket);
    return new Promise((resolve, reject) => {
      socket.addEventListener("open", () => resolve(client));
      socket.addEventListener("error", (event) =>
        reject(new Error(`the upgrade was refused: ${(event as ErrorEvent).message}`)),
      );
    });
  }

  /** Connects and shakes hands under a name: `claude-code` is treated as the genuine CLI. */
  static async open(
    lock: { port: number; content: Pick<LockContent, "authToken"> },
    name = "test-client",
    headers: Record<string, string> = {},
  ): Promise<TestClient> {
    const client = await TestClient.connect(lock, headers);
    await client.initialize(name);
    client.notify("notifications/initialized");
    client.notify("ide_connected", { pid: process.pid });
    return client;
  }

  initialize(name: string): Promise<unknown> {
    const clientInfo = { name, version: "1.0.0" };
    const protocolVersion = "2025-11-25";
    return this.request("initialize", { protocolVersion, capabilities: {}, clientInfo });
  }

  /** Rejects with CallError when the server answers with an error. */
  request<T = unknown>(method: string, params?: unknown): Promise<T> {
    if (this.#socket.readyState > WebSocket.OPEN) {
      return Promise.reject(new Error("connection closed"));
    }
    const id = this.#nextId++;
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(id, pending);
    const timer = setTimeout(
      () => pending.reject(new Error(`${method}: no answer for ${ANSWER_TIMEOUT_MS} ms`)),
      ANSWER_TIMEOUT_MS,
    );
    this.send({ jsonrpc: "2.0", id, method, params });
    return pending.promise.finally(() => clearTimeout(timer)) as Promise<T>;
  }

  call(name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> {
    return this.request<ToolAnswer>("tools/call", { name, arguments: args });
  }

  /** Calls a tool and returns its text blocks. Throws when the answer is a tool error. */
  async texts(name: string, args: Record<string, unknown> = {}): Promise<string[]> {
    const answer = await this.call(name, args);
    const blocks = answer.content.map((block) => block.text);
    if (answer.isError) throw new Error(`${name}: ${blocks.join("\n")}`);
    return blocks;
  }

  /** Calls openDiff. The answer may come when no one waits for it any longer. */
  propose(path: string, contents: string): Promise<string[]> {
    const answer = this.openDiff(path, contents, path);
    answer.catch(() => {});
    return answer;
  }

  /** Calls a tool that refuses; returns why. */
  async refusal(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { isError, content } = await this.call(name, args);
    if (!isError) throw new Error(`${name} does not refuse: ${JSON.stringify(content)}`);
    return content[0]?.text ?? "";
  }

  /** Calls a tool whose answer is one block of JSON. */
  async json<T = unknown>(name: string, args: Record<string, unknown> = {}): Promise<T> {
    return JSON.parse((await this.texts(name, args))[0] as string) as T;
  }

  /** Calls a tool under an id that the test can cancel; the answer, if one comes, is in `received`. */
  callAs(id: string, name: string, args: Record<string, unknown>): void {
    this.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
  }

  /** Proposes a text for a file, and waits for the outcome. */
  openDiff(path: string, contents: string, tab_name?: string): Promise<string[]> {
    const paths = { old_file_path: path, new_file_path: path };
    return this.texts("openDiff", { ...paths, new_file_contents: contents, tab_name });
  }

  notify(method: string, params?: unknown): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  /** Sends anything: text and bytes unchanged, everything else as JSON. */
  send(message: unknown): void {
    const raw = typeof message === "string" || message instanceof Uint8Array;
    this.#socket.send(raw ? message : JSON.stringify(message));
  }

  /** Notifications of one method received so far. */
  notifications<T = Record<string, unknown>>(method: string): T[] {
    return this.received.filter((m) => m.method === method).map((m) => m.params as T);
  }

  /** Waits for the next message that fits, also among those already received from `from` on. */
  async message(fits: (message: Message) => boolean, from = 0, ms?: number): Promise<Message> {
    return eventually(
      "a message",
      () => this.received.slice(from).find(fits) ?? (false as const),
      ms,
    ) as Promise<Message>;
  }

  close(): void {
    this.#socket.close();
  }

  /** Drops the connection without a close frame. */
  terminate(): void {
    (this.#socket as unknown as { terminate(): void }).terminate();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #receive(text: string): void {
    const parsed = JSON.parse(text) as Message | Message[];
    for (const message of Array.isArray(parsed) ? parsed : [parsed]) {
      this.received.push(message);
      if (message.method !== undefined || message.id === undefined || message.id === null) continue;
      const pending = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (message.error) pending?.reject(new CallError(message.error.code, message.error.message));
      else pending?.resolve(message.result);
    }
  }
}
