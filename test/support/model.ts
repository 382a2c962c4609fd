import { answer, type Block } from "./model-answer";
import { isConversation, type ModelRequest } from "./model-request";

/** The model's answer to one request: fixed, or made from the request. */
export type Turn = Block[] | ((request: ModelRequest) => Block[]);

const REQUEST_TIMEOUT_MS = 30_000;

interface Waiting {
  wanted: (request: ModelRequest) => boolean;
  found: (request: ModelRequest) => void;
}

/** A stand-in for the Messages API on loopback, which answers as the script says. */
export class Model {
  /** Every step of the conversation, in order. */
  readonly requests: ModelRequest[] = [];
  /** Everything else that the CLI requested: titles, token counts, unknown paths. */
  readonly asides: { path: string; body: unknown }[] = [];
  readonly url: string;

  private readonly server: Bun.Server<undefined>;
  private readonly further: Bun.Server<undefined>[] = [];
  private turns: Turn[] = [];
  /** Requests before this one were already handed out, or belong to an earlier script. */
  private seen = 0;
  private waiting: Waiting | undefined;

  constructor() {
    this.server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      fetch: (request) => this.serve(request),
    });
    this.url = `http://127.0.0.1:${this.server.port}`;
  }

  /** Starts a new script, and drops unused answers and unread requests of the previous one. */
  script(turns: Turn[]): void {
    this.turns = [...turns];
    this.seen = this.requests.length;
  }

  /** The next request of the conversation that `wanted` accepts. Skips earlier ones. */
  async nextRequest(
    wanted: (request: ModelRequest) => boolean = () => true,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<ModelRequest> {
    while (this.seen < this.requests.length) {
      const request = this.requests[this.seen++];
      if (request && wanted(request)) return request;
    }
    const { promise, resolve, reject } = Promise.withResolvers<ModelRequest>();
    const timer = setTimeout(() => reject(new Error(this.noRequest(timeoutMs))), timeoutMs);
    this.waiting = { wanted, found: resolve };
    return promise.finally(() => {
      clearTimeout(timer);
      if (this.waiting?.found === resolve) this.waiting = undefined;
    });
  }

  /** Also answers at a socket, for programs in another network namespace. */
  listen(unix: string): void {
    this.further.push(Bun.serve({ unix, fetch: (request) => this.serve(request) }));
  }

  stop(): void {
    for (const server of this.further) server.stop(true);
    this.server.stop(true);
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  private async serve(http: Request): Promise<Response> {
    const path = new URL(http.url).pathname;
    const body = http.method === "POST" ? await http.json().catch(() => undefined) : undefined;
    const request = path === "/v1/messages" ? (body as ModelRequest | undefined) : undefined;
    if (request && isConversation(request)) {
      this.record(request);
      return answer(this.speak(request), request.model, request.stream ?? false);
    }
    this.asides.push({ path, body });
    if (request) return answer([{ text: "ok" }], request.model, request.stream ?? false);
    if (path === "/v1/messages/count_tokens") return Response.json({ input_tokens: 10 });
    return Response.json({ type: "error", error: { type: "not_found_error" } }, { status: 404 });
  }

  private speak(request: ModelRequest): Block[] {
    const turn = this.turns.shift() ?? [{ text: "The script has no more turns." }];
    return typeof turn === "function" ? turn(request) : turn;
  }

  private record(request: ModelRequest): void {
    this.requests.push(request);
    if (!this.waiting) return;
    this.seen = this.requests.length;
    if (!this.waiting.wanted(request)) return;
    this.waiting.found(request);
    this.waiting = undefined;
  }

  private noRequest(timeoutMs: number): string {
    const last = JSON.stringify(this.requests.at(-1)?.messages.at(-1))?.slice(0, 2000);
    return [
      `The CLI sent no request of the wanted kind within ${timeoutMs} ms`,
      `(${this.requests.length} in all, ${this.turns.length} turns of the script unsaid).`,
      `Last message of the last request: ${last ?? "none"}`,
    ].join(" ");
  }
}
