import type { Server, ServerWebSocket } from "bun";
import type { Transport } from "../jsonrpc/message";
import { isSame, TOKEN_HEADER } from "../lib/token";

export const LIMITS = {
  /** The length of a message in bytes. The CLI sends a whole file in one message. */
  messageBytes: 64 * 1024 * 1024,
  /** Open WebSockets. */
  connections: 128,
  /** Bytes that wait for a client. If there are more, it is disconnected. */
  backlogBytes: 128 * 1024 * 1024,
  /** In seconds. A client that does not answer Bun's pings is disconnected after this time. */
  idleSeconds: 120,
  /** In seconds. A TCP connection without a complete upgrade request is closed after this time. */
  upgradeSeconds: 10,
} as const;

export type Limits = { readonly [name in keyof typeof LIMITS]: number };

/** An address rather than a name, which could resolve to another one (spec 01, Security). */
const HOST = "127.0.0.1";

/** RFC 6455's close code of an endpoint that ends. */
const GOING_AWAY = 1001;
/** The CLI (2.1.330) disconnects unless we echo this sub-protocol. */
const SUBPROTOCOL = "mcp";

/** Also calls `onClose` when we close it. */
export interface ClosableTransport extends Transport {
  close(): void;
}

interface Admission {
  token: string;
  /** A client has connected. The callee must set the transport's receivers synchronously. */
  onConnect(transport: ClosableTransport): void;
  /** A connection was refused. The reason is for the log, not for the client. */
  onRefuse?(reason: string): void;
}

type SocketData = { transport: Transport | undefined };

/** Listens on 127.0.0.1:`port`. Refuses all clients until admit(). Throws if the port is taken (`code` EADDRINUSE). */
export class WebSocketListener {
  readonly #server: Server<SocketData>;
  readonly #limits: Limits;
  #admission: Admission | undefined;
  #open = 0;

  constructor(port: number, limits: Partial<Limits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
    const { upgradeSeconds, messageBytes, backlogBytes, idleSeconds } = this.#limits;
    this.#server = Bun.serve<SocketData>({
      hostname: HOST,
      port,
      idleTimeout: upgradeSeconds,
      fetch: (request, server) => this.#upgrade(request, server),
      error: () => refuse(500, "Internal error"),
      websocket: {
        maxPayloadLength: messageBytes,
        backpressureLimit: backlogBytes,
        closeOnBackpressureLimit: true,
        idleTimeout: idleSeconds,
        sendPings: true,
        perMessageDeflate: false,
        open: (socket) => this.#opened(socket),
        message: (socket, message) => {
          const text = typeof message === "string" ? message : message.toString("utf8");
          socket.data.transport?.onMessage(text);
        },
        close: (socket) => {
          if (!socket.data.transport) return;
          this.#open--;
          socket.data.transport.onClose();
        },
      },
    });
  }

  get port(): number {
    return this.#server.port as number;
  }

  /** Accepts clients with the token from now on. */
  admit(admission: Admission): void {
    this.#admission = admission;
  }

  /** Disconnects all clients (1001, going away), and closes the port. */
  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  #upgrade(request: Request, server: Server<SocketData>): Response | undefined {
    const refusal = this.#refusal(request);
    if (refusal) {
      this.#admission?.onRefuse?.(refusal.reason);
      return refuse(refusal.status, refusal.text);
    }
    const offered = request.headers.get("sec-websocket-protocol");
    const echoes = offered?.split(",").some((name) => name.trim() === SUBPROTOCOL);
    const upgraded = server.upgrade(request, {
      data: { transport: undefined },
      ...(echoes && { headers: { "Sec-WebSocket-Protocol": SUBPROTOCOL } }),
    });
    return upgraded ? undefined : refuse(426, "Upgrade required");
  }

  #refusal(request: Request): { status: number; text: string; reason: string } | undefined {
    const { headers } = request;
    // Every web page sends Origin, and Claude Code never does (CVE-2025-52882).
    if (headers.has("origin")) return forbidden("an Origin header, so a web page");
    const hosts = [HOST, "localhost"].map((name) => `${name}:${this.port}`);
    if (!hosts.includes(headers.get("host")?.toLowerCase() ?? ""))
      return forbidden("a Host header of another host");
    if (!isSame(headers.get(TOKEN_HEADER) ?? "", this.#admission?.token)) {
      return { status: 401, text: "Unauthorized", reason: "a missing or wrong token" };
    }
    if (this.#open >= this.#limits.connections) {
      return { status: 503, text: "Too many connections", reason: "too many connections" };
    }
    return undefined;
  }

  #opened(socket: ServerWebSocket<SocketData>): void {
    this.#open++;
    const transport: ClosableTransport = {
      send: (text) => void socket.send(text),
      close: () => socket.close(GOING_AWAY),
      onMessage: () => {},
      onClose: () => {},
    };
    this.#admission?.onConnect(transport);
    socket.data.transport = transport;
  }
}

function forbidden(reason: string): { status: number; text: string; reason: string } {
  return { status: 403, text: "Forbidden", reason };
}

/** The answer does not reveal the cause of a refusal. */
function refuse(status: number, text: string): Response {
  return new Response(`${text}\n`, { status, headers: { "Content-Type": "text/plain" } });
}
