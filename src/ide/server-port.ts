import type { Launch, PortRange } from "./launch";

/** The ports of spec 01: a random one of 10000 to 65535, both included. */
const PORT_RANGE = { first: 10_000, last: 65_535 } as const;

const ATTEMPTS = 50;

/** An executable that has just been stopped may still hold the port that we take over. */
const HANDOVER_MS = 1_000;
const HANDOVER_STEP_MS = 20;

/** An open port. */
interface Listener {
  readonly port: number;
  /** Closes every client and the port. */
  stop(): Promise<void>;
}

/** The port on which clients connect. It can be opened before it is known whether we serve. */
export class ServerPort<L extends Listener> {
  #early: { range: PortRange; listener: Promise<L | undefined> } | undefined;

  /** `listen` opens a port, or throws (`code` EADDRINUSE). */
  constructor(private readonly listen: (port: number) => L) {}

  /** Opens a port that refuses everybody: to open one takes as long as all else of a start. */
  openEarly(range: PortRange): void {
    this.#early = { range, listener: this.#open({ portRange: range }).catch(() => undefined) };
  }

  /**
   * The port that the launch line asks for, open, and the token that clients must show from now on.
   * Rejects if none can be opened.
   */
  async serve(launch: Wanted & Tokens): Promise<{ listener: L; token: string }> {
    const listener = (await this.#fitting(launch)) ?? (await this.#open(launch));
    const { port: wanted, nextToken = crypto.randomUUID() } = launch;
    return { listener, token: wanted && listener.port !== wanted ? nextToken : launch.token };
  }

  /** The one that is open, if it is what the launch line asks for; otherwise it is closed. */
  async #fitting({ port, portRange }: Wanted): Promise<L | undefined> {
    const listener = await this.#early?.listener;
    if (port == null && isSame(this.#early?.range, portRange)) return listener;
    await listener?.stop();
    return undefined;
  }

  /**
   * Tries random ports until one is free, so that no port can be taken between a probe and its use. A
   * wanted port is tried first, for a while. Rejects with the last error when no attempt succeeded, or at
   * once when the error is not that the port is taken.
   */
  async #open(wanted: Wanted): Promise<L> {
    let taken: unknown;
    for (const port of portsToTry(wanted)) {
      try {
        return this.listen(port);
      } catch (error) {
        if (!isTaken(error)) throw error;
        taken = error;
      }
      if (port === wanted.port) await Bun.sleep(HANDOVER_STEP_MS);
    }
    throw taken;
  }
}

type Wanted = Partial<Pick<Launch, "port" | "portRange">>;
type Tokens = Pick<Launch, "token" | "nextToken">;

function* portsToTry({ port, portRange = PORT_RANGE }: Wanted): Generator<number> {
  const handedOver = performance.now() + HANDOVER_MS;
  while (port != null && performance.now() < handedOver) yield port;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) yield draw(portRange);
}

function isSame(a: PortRange | undefined, b: PortRange | undefined): boolean {
  return a?.first === b?.first && a?.last === b?.last;
}

function draw({ first, last }: PortRange): number {
  return first + Math.floor(Math.random() * (last - first + 1));
}

function isTaken(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  return code === "EADDRINUSE" || code === "EACCES";
}
