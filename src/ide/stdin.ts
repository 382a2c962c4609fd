/** The lines of stdin, and when it ends: the process that holds it is gone then. */
export class Stdin {
  readonly ended: Promise<void>;
  #text = "";
  #hasEnded = false;
  #waiting: ((line: string) => void) | undefined;

  constructor(stream: NodeJS.ReadStream = process.stdin) {
    const end = Promise.withResolvers<void>();
    this.ended = end.promise;
    const finish = () => {
      this.#hasEnded = true;
      this.#answer();
      end.resolve();
    };
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      this.#text += chunk;
      this.#answer();
    });
    stream.on("end", finish);
    stream.on("error", finish);
    stream.on("close", finish);
  }

  /** The next line, without its end; what is left where stdin ends without one. One call at a time. */
  line(): Promise<string> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#answer();
    });
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
