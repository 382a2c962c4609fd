import type { Transport } from "../jsonrpc/message";
import { linesOf } from "../lib/lines";

/** A longer message ends the connection. */
const LINE_LIMIT_BYTES = 64 * 1024 * 1024;

/** MCP's stdio transport: one message a line on stdin and stdout. */
export class StdioTransport implements Transport {
  /** Resolves when stdin ends or stdout is closed. */
  readonly ended: Promise<void>;
  readonly #end: () => void;
  onMessage: (text: string) => void = () => {};
  onClose: () => void = () => {};

  constructor(
    input: ReadableStream<Uint8Array> = Bun.stdin.stream(),
    private readonly output: Bun.FileSink = Bun.stdout.writer(),
  ) {
    const end = Promise.withResolvers<void>();
    this.ended = end.promise;
    this.#end = end.resolve;
    this.#read(input).then(end.resolve, end.resolve);
  }

  send(text: string): void {
    const write = async () => {
      await this.output.write(`${text}\n`);
      await this.output.flush();
    };
    write().catch(this.#end);
  }

  close(): void {
    this.onClose();
  }

  async #read(input: ReadableStream<Uint8Array>): Promise<void> {
    for await (const line of linesOf(input, LINE_LIMIT_BYTES)) {
      const text = line.trim();
      if (text !== "") this.onMessage(text);
    }
  }
}
