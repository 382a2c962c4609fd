/**
 * The lines of stdin, and when it ends: the process that holds it is gone then. Not `process.stdin`,
 * which is one of Node's streams and takes a start twice as long.
 */
export class Stdin {
  readonly ended: Promise<void>;
  #text = "";
  #hasEnded = false;
  #waiting: ((line: string) => void) | undefined;

  constructor(stream: ReadableStream<Uint8Array> = Bun.stdin.stream()) {
    this.ended = this.#read(stream);
  }

  /** The next line, without its end; what is left where stdin ends without one. One call at a time. */
  line(): Promise<string> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#answer();
    });
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of stream) {
        this.#text += decoder.decode(chunk, { stream: true });
        this.#answer();
      }
    } catch {
      // It broke, which is an end, too.
    }
    this.#hasEnded = true;
    this.#answer();
  }

  #answer(): void {
    const newline = this.#text.indexOf("\n");
    if (!this.#waiting || (newline < 0 && !this.#hasEnded)) return;
    const length = newline < 0 ? this.#text.length : newline;
    const line = this.#text.slice(0, length);
    this.#text = this.#text.slice(length + 1);
    this.#waiting(line);
    this.#waiting = undefined;
  }
}
