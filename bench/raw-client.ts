import type { LockContent } from "../src/ide/lock-file";

/** Ids stand near one of the ends of an answer, whoever wrote it. */
const ENDS = 300;

/**
 * A client that looks at an answer's id and no further: what reading a big answer costs a client is
 * not what is measured.
 */
export class RawClient implements Disposable {
  readonly #socket: WebSocket;
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Connects and shakes hands. */
  static async open(lock: {
    port: number;
    content: Pick<LockContent, "authToken">;
  }): Promise<RawClient> {
    const socket = new WebSocket(`ws://127.0.0.1:${lock.port}/`, {
      protocols: ["mcp"],
      headers: { "x-claude-code-ide-authorization": lock.content.authToken },
    } as never);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error("the upgrade was refused"));
    });
    const client = new RawClient(socket);
    await client.request("initialize", {
      protocolVersion: "2024-11-05",
      capabilities: {},
      clientInfo: { name: "raw", version: "1.0.0" },
    });
    socket.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    return client;
  }

  /** Resolves when the whole answer is here. */
  request(method: string, params: unknown = {}): Promise<void> {
    const id = this.#nextId++;
    const mark = new RegExp(`"id":\\s*${id}\\b`);
    return new Promise((resolve) => {
      this.#socket.onmessage = ({ data }) => {
        const text = String(data);
        if (mark.test(text.slice(0, ENDS)) || mark.test(text.slice(-ENDS))) resolve();
      };
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}
