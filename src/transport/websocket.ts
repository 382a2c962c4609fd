import type { Server, ServerWebSocket } from "bun";
import type { Transport } from "../jsonrpc/message";

/** All limits of the socket, in one place. */
export const LIMITS = {
  /** One message, in bytes. The CLI sends a whole file in one text frame. */
  messageBytes: 64 * 1024 * 1024,
  /** Open WebSockets at once. */
  connections: 128,
  /** Bytes that may wait for a client; beyond that it is dropped. */
  backlogBytes: 128 * 1024 * 1024,
  /** Silence after which Bun has pinged in vain and drops the client, in seconds. */
  idleSeconds: 120,
  /** A TCP connection that sends no complete upgrade request is dropped, in seconds. */
  upgradeSeconds: 10,
} as const;

export type Limits = { readonly [name in keyof typeof LIMITS]: number };

/** Only loopback, never a name that could resolve elsewhere (spec: MCP server, Security). */
const HOST = "127.0.0.1";

/** The close code of an endpoint that ends (RFC 6455). */
const GOING_AWAY = 1001;
const TOKEN_HEADER = "x-claude-code-ide-authorization";
/** The CLI (2.1.330) closes at once unless this sub-protocol is echoed. */
const SUBPROTOCOL = "mcp";

/** Ended from our side it reports its end, too. */
export interface ClosableTransport extends Transport {
  close(): void;
}

/** Whom a listener lets in. */
interface Admission {
  token: string;
  /** A client has been let in; its transport needs its receivers now. */
  onConnect(transport: ClosableTransport): void;
  /** A connection was refused, and why: for the log, never for the client. */
  onRefuse?(reason: string): void;
}

interface SocketData {
  transport: Transport | undefined;
}

/**
 * Listens on 127.0.0.1:`port`, and refuses everybody until admit() says who may come in. Throws when the port is taken
 * (`code` EADDRINUSE).
 */
export class WebSocketListener {
  readonly #server: Server<SocketData>;
  readonly #limits: Limits;
  #admission: Admission | undefined;
  #open = 0;

  /** `limits`: other ones than the usual. */
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

  /** From now on clients that show the token are let in. */
  admit(admission: Admission): void {
    this.#admission = admission;
  }

  /** Closes every client (1001, going away) and the port. */
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
    // A web page cannot leave Origin out, and Claude Code does not send it (CVE-2025-52882).
    if (headers.has("origin")) return forbidden("an Origin header, so a web page");
    if (!this.#isOwn(headers.get("host"))) return forbidden("a Host header of another host");
    if (!isSame(headers.get(TOKEN_HEADER) ?? "", this.#admission?.token)) {
      return { status: 401, text: "Unauthorized", reason: "a missing or wrong token" };
    }
    if (this.#open >= this.#limits.connections) {
      return { status: 503, text: "Too many connections", reason: "too many connections" };
    }
    return undefined;
  }

  #isOwn(host: string | null): boolean {
    return [HOST, "localhost"].some((name) => host?.toLowerCase() === `${name}:${this.port}`);
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

/** Takes the same time wherever the first wrong character is. */
function isSame(given: string, token: string | undefined): boolean {
  if (token === undefined) return false;
  const [bytes, wanted] = [Buffer.from(given), Buffer.from(token)];
  const comparable = bytes.length === wanted.length ? bytes : Buffer.alloc(wanted.length);
  return crypto.timingSafeEqual(comparable, wanted) && comparable === bytes;
}

function forbidden(reason: string): { status: number; text: string; reason: string } {
  return { status: 403, text: "Forbidden", reason };
}

/** Plain and the same for every cause: an answer that leaks nothing. */
function refuse(status: number, text: string): Response {
  return new Response(`${text}\n`, { status, headers: { "Content-Type": "text/plain" } });
}
