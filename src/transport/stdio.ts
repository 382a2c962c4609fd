import type { Transport } from "../jsonrpc/transport";

/** One message, in bytes; a longer line ends the connection. */
const LINE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Newline-delimited messages on stdin and stdout, as MCP's stdio transport has them. */
export class StdioTransport implements Transport {
  /** Resolves when stdin ended, or stdout is closed. */
  readonly ended: Promise<void>;
  readonly #output: NodeJS.WriteStream;
  onMessage: (text: string) => void = () => {};
  onClose: () => void = () => {};
  #parts: Buffer[] = [];
  #held = 0;

  constructor(
    input: NodeJS.ReadStream = process.stdin,
    output: NodeJS.WriteStream = process.stdout,
  ) {
    this.#output = output;
    const end = Promise.withResolvers<void>();
    this.ended = end.promise;
    input.on("data", (chunk: Buffer) => {
      if (!this.#take(chunk)) end.resolve();
    });
    for (const event of ["end", "error", "close"]) input.on(event, () => end.resolve());
    output.on("error", () => end.resolve());
  }

  send(text: string): void {
    this.#output.write(`${text}\n`);
  }

  close(): void {
    this.onClose();
  }

  /** False when a line grows too long. */
  #take(chunk: Buffer): boolean {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#parts.push(chunk.subarray(start, end));
      const line = Buffer.concat(this.#parts).toString("utf8").trim();
      this.#parts = [];
      this.#held = 0;
      start = end + 1;
      if (line !== "") this.onMessage(line);
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start));
    this.#held += chunk.length - start;
    return this.#held <= LINE_LIMIT_BYTES;
  }
}
