import { closeSync, openSync, readdirSync } from "node:fs";
import { type Libc, libc } from "../lib/libc";

/** Without a descriptor the server tries to accept all the time: it looks after as much processor time. */
const CHECK_CPU_US = 200_000n;
/** A handshake takes a millisecond; one that takes longer than this is not needed while descriptors lack. */
const GRACE_MS = 100;

const SPARE = "/dev/null";
const ITIMER_PROF = 2;
const AF_INET = 2;
const SHUT_RDWR = 2;
/** sockaddr_in: family (2 bytes), port (2 bytes, big-endian), address. */
const ADDRESS_BYTES = 16;

/**
 * Closes connections that never became a WebSocket once there is no file descriptor left: without one
 * no client can be accepted, and the server would try it all the time. By that it is noticed: a timer
 * of the process's own processor time, which does not run at rest. Linux only.
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
    const c = libc();
    if (!c) return;
    this.#spare = open();
    process.on("SIGPROF", this.#check);
    setProcessorTimer(c, CHECK_CPU_US);
  }

  stop(): void {
    const c = libc();
    if (c) setProcessorTimer(c, 0n);
    process.off("SIGPROF", this.#check);
    clearTimeout(this.#timer);
    if (this.#spare !== undefined) closeSync(this.#spare);
    this.#spare = undefined;
  }

  readonly #check = (): void => {
    clearTimeout(this.#timer);
    if (!this.#isShort()) return this.#seen.clear();
    this.#closeOld();
    this.#timer = setTimeout(this.#check, GRACE_MS);
    this.#timer.unref();
  };

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

/** SIGPROF comes each time that the process has used `us` more of a processor; 0 ends it. */
function setProcessorTimer(c: Libc, us: bigint): void {
  // struct itimerval: interval and value, in seconds and microseconds.
  c.setitimer(ITIMER_PROF, new BigInt64Array([0n, us, 0n, us]), null);
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
