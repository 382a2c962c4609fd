// We need only the package's transport. Its client first requests the whole API description, and its logger takes over
// `console`.

import { decodeMultiStream } from "@msgpack/msgpack";
import { Transport } from "neovim/lib/utils/transport";
import { withDeadline } from "../lib/deadline";
import { Emitter } from "../lib/emitter";
import { Failure } from "../lib/errors";
import { UnixSocket } from "../lib/unix-socket";

const gone = () => new Failure("Neovim is gone", "gone");

/** In ms. A local socket answers at once or never, but on a busy machine we may notice it late. */
const CONNECT_MS = 5_000;
/** Neovim runs all received requests before it draws or serves another client, so further requests wait here. */
const MAX_IN_FLIGHT = 16;

/** The package's transport only writes, since it would lose characters when reading. */
const NOTHING_TO_READ = {
  once() {},
  async *[Symbol.asyncIterator]() {},
} as unknown as NodeJS.ReadableStream;

/** msgpack-RPC with one Neovim. Every request settles. */
export class NeovimRpc {
  readonly onNotification = new Emitter<{ method: string; args: unknown[] }>();
  readonly onClose = new Emitter<void>();
  readonly #transport = new Transport();
  readonly #pending = new Set<(error: Error) => void>();
  /** Each function sends a waiting request. The oldest comes first. */
  readonly #waiting = new Set<() => void>();
  #inFlight = 0;
  closed = false;

  /** `address` is a socket path or a named pipe (`v:servername`). */
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
   * Rejects with Neovim's error, Failure "late" or Failure "gone". Requests run in order. A request that is late before
   * its turn is never sent. `arrived` gets the result before we read Neovim's next message; an await would be too late.
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
    const received = decodeMultiStream<undefined>(this.socket, OPTIONS);
    for (;;) {
      // The socket broke, or sent bytes that are not msgpack. We cannot read what follows.
      const next = await received.next().catch(() => undefined);
      if (!next || next.done) return this.close();
      this.#transport.parseMessage(withText(next.value) as unknown[]);
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
 * Neovim's strings are bytes: names of files, messages of linters and binary buffers need not be UTF-8. Other bytes
 * become U+FFFD. A byte order mark is part of the text. We decode strings ourselves, since the package reads beyond the
 * end of a short string that ends within a character, such as an é in Latin-1. We also decode keys: a language server
 * chooses the keys of an edit, and the package refuses `__proto__`.
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

/** Decodes the strings of a message. Changes arrays and maps in place: there may be ten thousand. */
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
