import { linesOf } from "../lib/lines";
import { visibleLine } from "../lib/visible";

/** The limits that relay and link set each other. */
export const LIMITS = {
  /** One line, in bytes: a message of a client, quoted. */
  lineBytes: 64 * 1024 * 1024,
  /** Channels at once; each session has three. */
  channels: 24,
  /** Each client and each hook opens one; Neovim learns of each client. */
  opensPerSecond: 100,
  /** Bytes that may wait for the other end; beyond that the connection ends. */
  backlogBytes: 128 * 1024 * 1024,
  /** Output of a shell before the first line. */
  greetingBytes: 4 * 1024,
  /** Files that one message names. */
  paths: 200,
  /** Bytes that are copied of one conversation. */
  conversationBytes: 128 * 1024 * 1024,
} as const;

/**
 * The connection of a relay and its link, in lines: our own stdin and stdout, or those of a program that we started.
 */
export class Wire {
  /** All after the first `{`: a shell may print a short greeting before it. */
  readonly lines: AsyncGenerator<string, void>;
  /** Why no line comes. */
  problem: string | undefined;
  /** How many bytes the other end has yet to take. */
  unsentBytes = 0;

  constructor(
    input: AsyncIterable<Uint8Array>,
    private readonly output: Bun.FileSink,
    /** Ends the process at the other end, which may not read. */
    private readonly stop = () => {},
  ) {
    this.lines = linesOf(this.#ungreeted(input), LIMITS.lineBytes);
  }

  /** Returns false for a line that is too long. */
  write(line: object): boolean {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    if (bytes.length > LIMITS.lineBytes) return false;
    this.unsentBytes += bytes.length;
    void this.#write(bytes).then(() => {
      this.unsentBytes -= bytes.length;
    });
    return true;
  }

  /** The other end may be gone: the end of the input says so. */
  async #write(bytes: Uint8Array): Promise<void> {
    try {
      await this.output.write(bytes);
      await this.output.flush();
    } catch {}
  }

  end(): void {
    void this.#end();
    this.stop();
  }

  async #end(): Promise<void> {
    try {
      await this.output.end();
    } catch {}
  }

  async *#ungreeted(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    let greeting = "";
    let hasBegun = false;
    for await (const chunk of input) {
      const start: number = hasBegun ? 0 : chunk.indexOf("{".charCodeAt(0));
      if (!hasBegun)
        greeting += Buffer.from(start < 0 ? chunk : chunk.subarray(0, start)).toString();
      if (greeting.length > LIMITS.greetingBytes) {
        this.problem = `its stdout is not clean: it begins with "${visibleLine(greeting, 100)}"`;
        return;
      }
      hasBegun ||= start >= 0;
      if (start >= 0) yield chunk.subarray(start);
    }
    if (!hasBegun && greeting !== "")
      this.problem = `it only printed "${visibleLine(greeting, 300)}"`;
  }
}
