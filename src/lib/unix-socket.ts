import { withDeadline } from "./deadline";

/** A connection to a socket path or a named pipe. Loading Node's `net` would double the time of a hook. */
export class UnixSocket {
  #socket: Bun.Socket<UnixSocket | undefined> | undefined;
  /** Bytes that have arrived and are not read yet. */
  #received: Uint8Array[] = [];
  /** Bytes that the peer has not taken yet. */
  #unsent: Uint8Array[] = [];
  #wake: () => void = () => {};
  #isEnding = false;
  #closed = false;

  private constructor() {}

  /** Rejects with the system's error, or with Failure "late", which names `peer`. */
  static async connect(address: string, deadlineMs: number, peer: string): Promise<UnixSocket> {
    const connection = new UnixSocket();
    const connecting = Bun.connect({ unix: address, socket: EVENTS, data: connection });
    try {
      connection.#socket = await withDeadline(connecting, deadlineMs, `${peer} at ${address}`);
    } catch (error) {
      connecting.then((socket) => socket.terminate()).catch(() => {});
      throw error;
    }
    return connection;
  }

  /** Throws the system's error. */
  static listen(address: string, onConnect: (connection: UnixSocket) => void): { stop(): void } {
    const open = (socket: Bun.Socket<UnixSocket | undefined>) => {
      const connection = new UnixSocket();
      connection.#socket = socket;
      socket.data = connection;
      onConnect(connection);
    };
    return Bun.listen<UnixSocket | undefined>({ unix: address, socket: { ...EVENTS, open } });
  }

  write(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.#unsent.push(bytes);
    if (this.#unsent.length === 1) this.flush();
  }

  /** Ends the connection once the peer has taken all bytes. */
  end(): void {
    this.#isEnding = true;
    this.flush();
  }

  destroy(): void {
    this.#socket?.terminate();
    this.closed();
  }

  /** Yields the bytes that arrive, until the connection ends. */
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

  /** Only EVENTS calls this, `flush` and `closed`. */
  received(bytes: Uint8Array): void {
    this.#received.push(bytes);
    this.#wake();
  }

  flush(): void {
    for (let next = this.#unsent[0]; next; next = this.#unsent[0]) {
      const written = Math.max(this.#socket?.write(next) ?? 0, 0);
      if (written < next.length) {
        this.#unsent[0] = next.subarray(written);
        return;
      }
      this.#unsent.shift();
    }
    if (this.#isEnding) this.#socket?.end();
  }

  closed(): void {
    this.#closed = true;
    this.#unsent = [];
    this.#wake();
  }
}

const EVENTS: Bun.SocketHandler<UnixSocket | undefined> = {
  data: ({ data }, bytes) => data?.received(bytes),
  drain: ({ data }) => data?.flush(),
  close: ({ data }) => data?.closed(),
  error: ({ data }) => data?.destroy(),
};
