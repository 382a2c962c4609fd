import { closeSync, openSync, readdirSync } from "node:fs";
import { type Libc, libc } from "../lib/libc";

const CHECK_MS = 1_000;
/** A handshake takes a millisecond; one that takes longer than this is not needed while descriptors lack. */
const GRACE_MS = 100;

const SPARE = "/dev/null";
const AF_INET = 2;
const SHUT_RDWR = 2;
/** sockaddr_in: family (2 bytes), port (2 bytes, big-endian), address. */
const ADDRESS_BYTES = 16;

/**
 * Closes connections that never became a WebSocket once there is no file descriptor left: without one
 * no client can be accepted, and the server would try it all the time. Linux only.
 */
export class HalfOpenConnections {
  readonly #port: number;
  readonly #isWebSocket: (peerPort: number) => boolean;
  #spare: number | undefined;
  #seen = new Set<string>();
  #timer: Timer | undefined;

  /** `port`: the server's; `isWebSocket`: whether the client with that port has been let in. */
  constructor(port: number, isWebSocket: (peerPort: number) => boolean) {
    this.#port = port;
    this.#isWebSocket = isWebSocket;
    if (process.platform !== "linux") return;
    this.#spare = open();
    this.#check(CHECK_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    if (this.#spare !== undefined) closeSync(this.#spare);
    this.#spare = undefined;
  }

  #check(ms: number): void {
    this.#timer = setTimeout(() => {
      const isShort = this.#isShort();
      if (isShort) this.#closeOld();
      else this.#seen.clear();
      this.#check(isShort ? GRACE_MS : CHECK_MS);
    }, ms);
    this.#timer.unref();
  }

  #isShort(): boolean {
    const another = open();
    if (another === undefined) return true;
    closeSync(another);
    this.#spare ??= open();
    return false;
  }

  /** Those that were half open at the last check already. */
  #closeOld(): void {
    if (this.#spare === undefined) return;
    // Listing them takes a descriptor. Nothing else runs until it is taken back.
    closeSync(this.#spare);
    const c = libc();
    const now = c ? halfOpen(c, this.#port, this.#isWebSocket) : [];
    this.#spare = open();
    const before = this.#seen;
    this.#seen = new Set(now.map(({ key }) => key));
    for (const { key, descriptor } of now) if (before.has(key)) c?.shutdown(descriptor, SHUT_RDWR);
  }
}

interface HalfOpen {
  descriptor: number;
  /** Distinguishes it from a later connection with the same descriptor. */
  key: string;
}

function halfOpen(c: Libc, port: number, isWebSocket: (peerPort: number) => boolean): HalfOpen[] {
  return readdirSync("/proc/self/fd").flatMap((name) => {
    const descriptor = Number(name);
    if (portOf(c.getsockname, descriptor) !== port) return [];
    const peer = portOf(c.getpeername, descriptor);
    // The listening socket has no peer.
    if (peer === undefined || isWebSocket(peer)) return [];
    return [{ descriptor, key: `${descriptor}:${peer}` }];
  });
}

function portOf(name: Libc["getsockname"], descriptor: number): number | undefined {
  const bytes = new Uint8Array(ADDRESS_BYTES);
  const length = new Uint32Array([ADDRESS_BYTES]);
  if (name(descriptor, bytes, length) !== 0) return undefined;
  const address = new DataView(bytes.buffer);
  return address.getUint16(0, true) === AF_INET ? address.getUint16(2) : undefined;
}

function open(): number | undefined {
  try {
    return openSync(SPARE, "r");
  } catch {
    return undefined;
  }
}
