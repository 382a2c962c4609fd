/** A running bare-program.ts, with one client. */
export class BareServer implements AsyncDisposable {
  private constructor(
    readonly process: Bun.Subprocess<"ignore", "pipe">,
    readonly startMs: number,
    private readonly socket: WebSocket,
  ) {}

  static async start(program: string, env: Record<string, string> = {}): Promise<BareServer> {
    const began = performance.now();
    const process = Bun.spawn([program, "serve"], {
      stdin: "ignore",
      stdout: "pipe",
      env: { ...globalThis.process.env, ...env },
    });
    const reader = process.stdout.getReader();
    const { value } = await reader.read();
    const startMs = performance.now() - began;
    const port = new TextDecoder().decode(value).trim();
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    return new BareServer(process, startMs, socket);
  }

  /** Sends a message, and gets one of `bytes` back. */
  echo(bytes?: number): Promise<unknown> {
    return this.#ask(bytes === undefined ? "ping" : JSON.stringify({ bytes }));
  }

  /** Sends a message with this text, which the server parses, and gets a short one back. */
  take(text: string): Promise<unknown> {
    return this.#ask(JSON.stringify({ bytes: 1, text }));
  }

  #ask(message: string): Promise<unknown> {
    return new Promise((resolve) => {
      this.socket.onmessage = resolve;
      this.socket.send(message);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.close();
    this.process.kill();
    await this.process.exited;
  }
}
