import type { Transport } from "../jsonrpc/transport";
import { WebSocketListener } from "../transport/websocket";
import { IdleGc } from "./idle-gc";
import type { Launch, PortRange } from "./launch";
import { bindPort } from "./port";

export interface Listening {
  listener: WebSocketListener;
  /** The one that clients must show. */
  token: string;
}

/** Gets what comes in by the port. */
export interface Receiver {
  connect(transport: Transport): void;
  /** A connection was refused, and why. */
  refused(cause: string): void;
}

/** The port on which clients connect. It can be opened before it is known whether we serve. */
export class ServerPort {
  readonly #idleGc = new IdleGc();
  #receiver: Receiver | undefined;
  #early: { range: PortRange; listener: Promise<WebSocketListener | undefined> } | undefined;

  /** Opens a port that refuses everybody: to open one takes as long as all else of a start. */
  openEarly(range: PortRange): void {
    const listener = bindPort((port) => this.#listen(port), { range }).catch(() => undefined);
    this.#early = { range, listener };
  }

  /** Lets clients in. Rejects if no port can be opened. */
  async serve(launch: Launch, receiver: Receiver): Promise<Listening> {
    this.#receiver = receiver;
    const early = await this.#early?.listener;
    if (early && launch.port == null && isSame(this.#early?.range, launch.portRange)) {
      early.admit(launch.token);
      return { listener: early, token: launch.token };
    }
    await early?.stop();
    return this.#open(launch);
  }

  #open(launch: Launch): Promise<Listening> {
    const { port: wanted, nextToken = crypto.randomUUID() } = launch;
    const bind = (port: number): Listening => {
      const token = wanted && port !== wanted ? nextToken : launch.token;
      return { listener: this.#listen(port, token), token };
    };
    const { portMayBeHeld: mayBeHeld, portRange: range } = launch;
    return bindPort(bind, { wanted: wanted ?? undefined, mayBeHeld, range });
  }

  #listen(port: number, token?: string): WebSocketListener {
    return new WebSocketListener({
      port,
      ...(token !== undefined && { token }),
      onConnect: (transport) => {
        this.#idleGc.countConnection();
        this.#receiver?.connect(transport);
      },
      onRefuse: (cause) => this.#receiver?.refused(cause),
      onTraffic: (length) => this.#idleGc.count(length),
    });
  }
}

function isSame(a: PortRange | undefined, b: PortRange | undefined): boolean {
  return a?.first === b?.first && a?.last === b?.last;
}
