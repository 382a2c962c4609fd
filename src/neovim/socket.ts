import { withDeadline } from "../lib/deadline";

/**
 * A connection to a socket path or a named pipe. Not by Node's `net`, whose streams take as long to
 * load as all else that talks to Neovim.
 */
export class NeovimSocket {
  #socket: Bun.Socket | undefined;
  /** What has come in and was not read yet. */
  #received: Uint8Array[] = [];
  /** What Neovim has yet to take. */
  #unsent: Uint8Array[] = [];
  #wake: () => void = () => {};
  #closed = false;

  private constructor() {}

  /** Rejects with the system's error, or a DeadlineError. */
  static async connect(address: string, deadlineMs: number): Promise<NeovimSocket> {
    const connection = new NeovimSocket();
    const connecting = Bun.connect({
      unix: address,
      socket: {
        data: (_socket, bytes) => connection.#take(bytes),
        drain: () => connection.#flush(),
        close: () => connection.#end(),
        error: () => connection.destroy(),
      },
    });
    try {
      connection.#socket = await withDeadline(connecting, deadlineMs, `Neovim at ${address}`);
    } catch (error) {
      connecting.then((socket) => socket.terminate()).catch(() => {});
      throw error;
    }
    return connection;
  }

  write(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.#unsent.push(bytes);
    if (this.#unsent.length === 1) this.#flush();
  }

  destroy(): void {
    this.#socket?.terminate();
    this.#end();
  }

  /** What comes in, until the connection ends. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const received = this.#received;
      this.#received = [];
      yield* received;
      if (this.#received.length > 0) continue;
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(bytes: Uint8Array): void {
    this.#received.push(bytes);
    this.#wake();
  }

  #flush(): void {
    for (let next = this.#unsent[0]; next; next = this.#unsent[0]) {
      const written = Math.max(this.#socket?.write(next) ?? 0, 0);
      if (written < next.length) {
        this.#unsent[0] = next.subarray(written);
        return;
      }
      this.#unsent.shift();
    }
  }

  #end(): void {
    this.#closed = true;
    this.#unsent = [];
    this.#wake();
  }
}
