import type { Transport } from "../jsonrpc/transport";

/** One message, in bytes; a longer line ends the connection. */
const LINE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Newline-delimited messages on stdin and stdout, as MCP's stdio transport has them. */
export class StdioTransport implements Transport {
  /** Resolves when stdin ended, or stdout is closed. */
  readonly ended: Promise<void>;
  readonly #end: () => void;
  readonly #output: Bun.FileSink;
  onMessage: (text: string) => void = () => {};
  onClose: () => void = () => {};
  #parts: Uint8Array[] = [];
  #held = 0;

  constructor(
    input: ReadableStream<Uint8Array> = Bun.stdin.stream(),
    output: Bun.FileSink = Bun.stdout.writer(),
  ) {
    const end = Promise.withResolvers<void>();
    this.ended = end.promise;
    this.#end = end.resolve;
    this.#output = output;
    this.#read(input).then(end.resolve, end.resolve);
  }

  send(text: string): void {
    this.#write(`${text}\n`).catch(this.#end);
  }

  close(): void {
    this.onClose();
  }

  async #write(line: string): Promise<void> {
    await this.#output.write(line);
    await this.#output.flush();
  }

  async #read(input: ReadableStream<Uint8Array>): Promise<void> {
    for await (const chunk of input) if (!this.#take(chunk)) return;
  }

  /** False when a line grows too long. */
  #take(chunk: Uint8Array): boolean {
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
