import { linesOf } from "../lib/lines";
import { visibleLine } from "../lib/visible";

/** Relay and link hold each other to these limits. */
export const LIMITS = {
  /** The length of a line in bytes. It contains a client's message as a JSON string. */
  lineBytes: 64 * 1024 * 1024,
  /** Open channels. Each session has four. */
  channels: 32,
  /** Each client and each hook opens a channel, and Neovim must handle each client. */
  opensPerSecond: 100,
  /** Bytes that wait for the other end. If there are more, the connection ends. */
  backlogBytes: 128 * 1024 * 1024,
  /** The output of a shell before the first line, in bytes. */
  greetingBytes: 4 * 1024,
  /** Files in one message. */
  paths: 200,
  /** The length of a conversation in bytes. */
  conversationBytes: 128 * 1024 * 1024,
} as const;

/** The lines between a relay and its link, on our own stdin and stdout or on those of a program that we started. */
export class Wire {
  /** The lines from the first `{` on: a shell may print a short greeting before it. */
  readonly lines: AsyncGenerator<string, void>;
  /** Why there are no lines. */
  problem: string | undefined;
  unsentBytes = 0;

  constructor(
    input: AsyncIterable<Uint8Array>,
    private readonly output: Bun.FileSink,
    /** Ends the process at the other end, even if it does not read. */
    private readonly stop = () => {},
  ) {
    this.lines = linesOf(this.#ungreeted(input), LIMITS.lineBytes);
  }

  /** Returns false for a line that is too long. */
  write(line: object): boolean {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    if (bytes.length > LIMITS.lineBytes) return false;
    this.unsentBytes += bytes.length;
    const written = async () => {
      await this.output.write(bytes);
      await this.output.flush();
    };
    // If the other end is gone, the input ends, too.
    void written()
      .catch(() => {})
      .then(() => {
        this.unsentBytes -= bytes.length;
      });
    return true;
  }

  end(): void {
    const ended = async () => void (await this.output.end());
    void ended().catch(() => {});
    this.stop();
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
