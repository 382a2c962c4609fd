import type { Launch, PortRange } from "./launch";
import { bindPort } from "./port";

/** An open port. */
export interface Listener {
  readonly port: number;
  /** Closes every client and the port. */
  stop(): Promise<void>;
}

export interface Listening<L extends Listener> {
  listener: L;
  /** The one that clients must show from now on. */
  token: string;
}

/** The port on which clients connect. It can be opened before it is known whether we serve. */
export class ServerPort<L extends Listener> {
  readonly #listen: (port: number) => L;
  #early: { range: PortRange; listener: Promise<L | undefined> } | undefined;

  /** `listen` opens a port, or throws (`code` EADDRINUSE). */
  constructor(listen: (port: number) => L) {
    this.#listen = listen;
  }

  /** Opens a port that refuses everybody: to open one takes as long as all else of a start. */
  openEarly(range: PortRange): void {
    const listener = bindPort(this.#listen, { range }).catch(() => undefined);
    this.#early = { range, listener };
  }

  /** The port that the launch line asks for, open. Rejects if none can be opened. */
  async serve(launch: Launch): Promise<Listening<L>> {
    const listener = (await this.#fitting(launch)) ?? (await this.#open(launch));
    const { port: wanted, nextToken = crypto.randomUUID() } = launch;
    return { listener, token: wanted && listener.port !== wanted ? nextToken : launch.token };
  }

  /** The one that is open, if it is what the launch line asks for; otherwise it is closed. */
  async #fitting({ port, portRange }: Launch): Promise<L | undefined> {
    const listener = await this.#early?.listener;
    if (port == null && isSame(this.#early?.range, portRange)) return listener;
    await listener?.stop();
    return undefined;
  }

  #open({ port, portMayBeHeld: mayBeHeld, portRange: range }: Launch): Promise<L> {
    return bindPort(this.#listen, { wanted: port ?? undefined, mayBeHeld, range });
  }
}

function isSame(a: PortRange | undefined, b: PortRange | undefined): boolean {
  return a?.first === b?.first && a?.last === b?.last;
}
