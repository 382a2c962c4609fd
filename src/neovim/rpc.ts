// The package's own client asks for the whole API description first and pulls in a logger that takes over `console`; we
// need only its transport.

import { decodeMultiStream } from "@msgpack/msgpack";
import { Transport } from "neovim/lib/utils/transport";
import { withDeadline } from "../lib/deadline";
import { Emitter } from "../lib/emitter";
import { Failure } from "../lib/errors";
import { UnixSocket } from "../lib/unix-socket";

const gone = () => new Failure("Neovim is gone", "gone");

/** A local socket answers at once or not at all; on a machine that does much else, we notice late. */
const CONNECT_MS = 5_000;
/** Neovim runs all requests that it has received before it draws or serves another: more wait here. */
const MAX_IN_FLIGHT = 16;

/** For the package's transport, which only writes: what it reads would lose characters. */
const NOTHING_TO_READ = {
  once() {},
  async *[Symbol.asyncIterator]() {},
} as unknown as NodeJS.ReadableStream;

/** msgpack-RPC with one Neovim. Every request settles: answered, late, or disconnected. */
export class NeovimRpc {
  readonly onNotification = new Emitter<{ method: string; args: unknown[] }>();
  readonly onClose = new Emitter<void>();
  readonly #transport = new Transport();
  readonly #pending = new Set<(error: Error) => void>();
  /** Functions that send the requests that wait, the oldest first. */
  readonly #waiting = new Set<() => void>();
  #inFlight = 0;
  closed = false;

  /** Connects to a socket path or named pipe (`v:servername`). */
  static async connect(address: string): Promise<NeovimRpc> {
    return new NeovimRpc(await UnixSocket.connect(address, CONNECT_MS, "Neovim"));
  }

  private constructor(private readonly socket: UnixSocket) {
    this.#transport.on("notification", (method: string, args: unknown[]) =>
      this.onNotification.emit({ method, args }),
    );
    this.#transport.on("request", (_method, _args, response) =>
      response.send("this client answers no requests", true),
    );
    const writer = socket as unknown as NodeJS.WritableStream;
    this.#transport.attach(writer, NOTHING_TO_READ, undefined);
    void this.#read();
  }

  /**
   * Rejects with an Error of Neovim's message, Failure "late", or Failure "gone". Requests run in their order; one that
   * is late before its turn is never sent. `arrived` gets the result before anything that Neovim sent behind it is
   * read, which an await does not.
   */
  request(
    method: string,
    args: unknown[],
    deadlineMs = Number.POSITIVE_INFINITY,
    arrived: (result: unknown) => void = () => {},
  ): Promise<unknown> {
    if (this.closed) return Promise.reject(gone());
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#pending.add(reject);
    const send = () =>
      this.#transport.request(method, args, (error: unknown, result: unknown) => {
        this.#inFlight--;
        this.#sendWaiting();
        // Neovim reports errors as [type, message].
        if (error) return reject(new Error(String(Array.isArray(error) ? error[1] : error)));
        try {
          arrived(result);
          resolve(result);
        } catch (fault) {
          reject(fault);
        }
      });
    this.#waiting.add(send);
    this.#sendWaiting();
    return withDeadline(promise, deadlineMs, "Neovim").finally(() => {
      this.#pending.delete(reject);
      this.#waiting.delete(send);
    });
  }

  close(): void {
    this.socket.destroy();
    this.#close();
  }

  #sendWaiting(): void {
    for (const send of this.#waiting) {
      if (this.#inFlight === MAX_IN_FLIGHT) return;
      this.#waiting.delete(send);
      this.#inFlight++;
      send();
    }
  }

  async #read(): Promise<void> {
    const received = messages(this.socket);
    for (;;) {
      // A socket that broke, or bytes that are not msgpack: nothing behind them can be understood.
      const next = await received.next().catch(() => undefined);
      if (!next || next.done) return this.close();
      this.#transport.parseMessage(next.value as unknown[]);
    }
  }

  #close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const reject of this.#pending) reject(gone());
    this.#pending.clear();
    this.#waiting.clear();
    this.onClose.emit();
  }
}

/**
 * Neovim's strings are bytes: a file's name, a linter's message or a binary buffer need not be UTF-8. Other bytes
 * become U+FFFD. A byte order mark is text like any other.
 */
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

const OPTIONS = {
  rawStrings: true,
  keyDecoder: {
    canBeCached: () => true,
    decode(message: Uint8Array, start: number, length: number) {
      const key = UTF8.decode(message.subarray(start, start + length));
      return key === "__proto__" ? "(__proto__)" : key;
    },
  },
};

/**
 * The msgpack messages that come in on a socket. Their strings are decoded here, since the package decodes short ones
 * without a look at their end: after an é in Latin-1 it takes the next two characters, or the next field, for the rest
 * of one. Keys are decoded here, too: those of a language server's edit are its own, and the package takes none called
 * `__proto__`.
 */
async function* messages(stream: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void> {
  for await (const message of decodeMultiStream<undefined>(stream, OPTIONS)) {
    yield withText(message);
  }
}

/** Arrays and maps are filled in place: there may be ten thousand. */
function withText(value: unknown): unknown {
  if (value instanceof Uint8Array) return UTF8.decode(value);
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  for (const key in fields) {
    const field = fields[key];
    if (typeof field === "object") fields[key] = withText(field);
  }
  return value;
}
