import { readFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { basename } from "../../src/lib/platform";

/** How the server deals with the next requests. */
export type Behaviour =
  | "good"
  | "404"
  /** Redirects to the same file over plain HTTP. */
  | "redirect to http"
  /** The head of the answer, and then nothing. */
  | "stalled"
  /** Nothing at all. */
  | "silent"
  /** Half of the file, then the connection ends. */
  | "cut off"
  /** Half of the file, as if that were the whole file. */
  | "truncated"
  /** The right size, with another byte in the middle. */
  | "tampered"
  | "too large"
  /** The file, and then more without an end, in an answer without a length. */
  | "endless"
  /** 20 pieces, 50 ms apart. */
  | "slow"
  /** A byte each 20 ms, without an end. */
  | "drip"
  /** Half of the file, and the rest after `letGo()`. */
  | "held";

/** A release's host on 127.0.0.1, with every fault a download can meet. Serves one folder's files. */
export class ReleaseServer implements AsyncDisposable {
  behaviour: Behaviour = "good";
  readonly requests: string[] = [];
  private suffix = "";
  private readonly sockets = new Set<Socket>();
  private readonly replaced = new Map<string, Buffer>();
  private held: (() => void)[] = [];

  private constructor(
    private readonly server: Server,
    private readonly files: ReadonlyMap<string, Buffer>,
  ) {
    server.on("connection", (socket) => this.talk(socket));
  }

  static async start(paths: string[]): Promise<ReleaseServer> {
    const files = new Map<string, Buffer>();
    for (const path of paths) files.set(basename(path), await readFile(path));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new ReleaseServer(server, files);
  }

  /** From now on it has this behaviour and its own files, and forgets earlier requests. */
  reset(behaviour: Behaviour): void {
    this.behaviour = behaviour;
    this.suffix = "";
    this.replaced.clear();
    this.requests.length = 0;
  }

  /** It behaves well, except for paths with this ending. */
  onlyFor(suffix: string, behaviour: Behaviour): void {
    this.suffix = suffix;
    this.behaviour = behaviour;
  }

  replace(name: string, content: Buffer): void {
    this.replaced.set(name, content);
  }

  letGo(): void {
    for (const send of this.held) send();
    this.held = [];
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private talk(socket: Socket): void {
    this.sockets.add(socket);
    socket.on("close", () => this.sockets.delete(socket));
    socket.on("error", () => {});
    let head = "";
    socket.on("data", (data) => {
      head += data.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      const [, method, path = "/"] = /^(GET|HEAD) (\S+) /.exec(head) ?? [];
      head = "";
      if (method === "GET") this.requests.push(path);
      this.answer(socket, path);
    });
  }

  private answer(socket: Socket, path: string): void {
    const name = basename(path);
    const file = this.replaced.get(name) ?? this.files.get(name);
    const behaviour = path.endsWith(this.suffix) ? this.behaviour : "good";
    if (behaviour === "silent") return;
    if (behaviour === "404" || !file) return respond(socket, "404 Not Found", "nothing here");
    if (behaviour === "redirect to http") {
      const target = `Location: ${this.url}/elsewhere${path}`;
      return respond(socket, "302 Found", "", [target]);
    }
    if (behaviour === "endless") return void pour(socket, file);
    const body = altered(file, behaviour);
    const half = Math.floor(body.length / 2);
    const sent: Partial<Record<Behaviour, () => unknown>> = {
      stalled: () => {},
      "cut off": () => socket.end(body.subarray(0, half)),
      held: () => {
        socket.write(body.subarray(0, half));
        this.held.push(() => socket.end(body.subarray(half)));
      },
      slow: () => trickle(socket, body, 20, 50),
      drip: () => trickle(socket, body, body.length, 20),
    };
    socket.write(head("200 OK", body.length));
    const send = sent[behaviour] ?? (() => socket.end(body));
    void send();
  }
}

function altered(file: Buffer, behaviour: Behaviour): Buffer {
  if (behaviour === "truncated") return file.subarray(0, Math.floor(file.length / 2));
  if (behaviour === "too large") return Buffer.concat([file, Buffer.alloc(1000)]);
  if (behaviour !== "tampered") return file;
  const copy = Buffer.from(file);
  const middle = Math.floor(copy.length / 2);
  copy[middle] = (copy[middle] ?? 0) ^ 1;
  return copy;
}

/** Until the other side disconnects. */
async function pour(socket: Socket, body: Buffer): Promise<void> {
  socket.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
  while (!socket.destroyed) {
    socket.write(body);
    await Bun.sleep(5);
  }
}

async function trickle(socket: Socket, body: Buffer, pieces: number, ms: number): Promise<void> {
  const piece = Math.ceil(body.length / pieces);
  for (let at = 0; at < body.length && !socket.destroyed; at += piece) {
    socket.write(body.subarray(at, at + piece));
    await Bun.sleep(ms);
  }
  socket.end();
}

function respond(
  socket: Socket,
  status: string,
  body: string | Buffer,
  headers: string[] = [],
): void {
  socket.write(head(status, body.length, headers));
  socket.end(body);
}

function head(status: string, length: number, headers: string[] = []): string {
  const lines = [
    `HTTP/1.1 ${status}`,
    `Content-Length: ${length}`,
    "Connection: close",
    ...headers,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}
