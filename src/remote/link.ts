import { message } from "../lib/errors";
import { linesOf } from "../lib/lines";
import type { Log } from "../lib/log";
import { isAbsolute } from "../lib/platform";
import { killNow } from "../lib/process";
import { onPath } from "../lib/programs";
import { visibleLine } from "../lib/visible";
import { type Channel, Channels, type Kind } from "./channels";
import { hostHello, probe, type RelayHello, readRelayHello } from "./hello";
import type { Mapping } from "./path-map";
import { LIMITS, Wire } from "./wire";

/** The delays in ms before the relay is started again; the last one repeats. The CLI tries to reconnect for 17 s. */
const RESTART_MS = [200, 1_000, 3_000, 8_000, 30_000];
/** After a relay has run for this time, in ms, the delays start again with the first. */
const STEADY_MS = 30_000;
const PING_MS = 10_000;
const SILENCE_MS = 30_000;
/** In ms. Starting a program in a container or on another machine may be slow. */
const HELLO_MS = 20_000;
/** In ms. The relay's program may end on its own before we kill it. */
const KILL_MS = 2_000;
/** The limit of a text from the relay, or from the program that starts it, in characters. */
const SHOWN_LENGTH = 500;
const ENDED = "its connection has ended";

interface RemoteOptions {
  name: string;
  /** The command that starts the relay. */
  relay: readonly string[];
  mappings: readonly Mapping[];
  token: string;
  nextToken: string;
  /** The port of the previous relay. The next relay tries it first. */
  port?: number | undefined;
}

/** Reported to Neovim: `claude-code.RemoteReport` in Lua. */
export type LinkState =
  | { state: "starting" }
  | {
      state: "up";
      port: number;
      uses_next_token: boolean;
      no_proxy?: string;
      /** The folder of our plugin for the CLI in the remote. */
      plugin?: string | undefined;
      plugin_without_mod?: string | undefined;
      /** A problem that does not keep clients from connecting. */
      problem?: string;
    }
  | { state: "down"; cause: string };

interface LinkEvents {
  /** The remote has opened a channel. The callee must set its receivers synchronously. */
  onChannel(channel: Channel, d: string): void;
  onState(state: LinkState): void;
}

/** Neovim's end of one remote. From start() until end(), starts the relay, and starts it again when it ends. */
export class Link {
  readonly #ended = Promise.withResolvers<string>();
  #isEnded = false;
  #options: RemoteOptions;
  /** The channels of the running relay. */
  #channels: Channels | undefined;

  constructor(
    options: RemoteOptions,
    private readonly events: LinkEvents,
    private readonly log: Log,
    private readonly silenceMs = SILENCE_MS,
  ) {
    this.#options = options;
  }

  /** Opens a channel to the relay. Undefined if it is not connected, or has too many channels. */
  open(kind: Kind, d: string): Channel | undefined {
    return this.#channels?.open(kind, d);
  }

  end(): void {
    this.#isEnded = true;
    this.#ended.resolve("it was stopped");
  }

  async start(): Promise<void> {
    for (let attempt = 0; !this.#isEnded; attempt++) {
      this.events.onState({ state: "starting" });
      const start = performance.now();
      const cause = await this.#once().catch(message);
      if (performance.now() - start > STEADY_MS) attempt = 0;
      if (this.#isEnded) return;
      this.log.warn(`The remote ${this.#options.name}: ${cause}`);
      this.events.onState({ state: "down", cause });
      const delay = RESTART_MS[attempt] ?? RESTART_MS.at(-1);
      await Promise.race([Bun.sleep(delay as number), this.#ended.promise]);
    }
  }

  /** Runs one relay. Resolves to the cause of its end: a clause about the remote. */
  async #once(): Promise<string> {
    const { name, relay } = this.#options;
    // The remote chooses the text, so the log's limit counts by the remote's name.
    const peer = startPeer(relay, (text) =>
      this.log.info(`The remote ${name} says: ${text}`, name),
    );
    try {
      const cause = await Promise.race([this.#serve(peer.wire), this.#ended.promise]);
      if (cause !== ENDED) return cause;
      // The program's last output says more than that it has ended.
      return await Promise.race([peer.gone, Bun.sleep(KILL_MS).then(() => cause)]);
    } finally {
      this.#channels?.dispose();
      this.#channels = undefined;
      peer.end();
    }
  }

  async #serve(wire: Wire): Promise<string> {
    const { token, nextToken, port, mappings } = this.#options;
    const roots = mappings.map(({ remote }) => remote);
    const first = hostHello({ token, nextToken, roots, ...(port !== undefined && { port }) });
    wire.write(first);
    const channels = new Channels(
      wire,
      "link",
      (channel, d) => this.events.onChannel(channel, d),
      (cause) => this.log.warn(`The remote ${this.#options.name}: refused ${cause}`),
    );
    this.#channels = channels;
    const read = await Promise.race([wire.lines.next(), Bun.sleep(HELLO_MS)]);
    if (!read) return "it does not answer";
    if (wire.problem) return wire.problem;
    if (read.done) return ENDED;
    const hello = readRelayHello(read.value);
    if (typeof hello === "string") return hello;
    // The relay may have been stopped in the meantime.
    if (this.#channels !== channels) return ENDED;
    this.#accept(hello);
    const pings = setInterval(() => channels.ping(), PING_MS);
    try {
      return (await channels.pass(this.silenceMs)) === "silent" ? "it is silent" : ENDED;
    } finally {
      clearInterval(pings);
    }
  }

  #accept(hello: RelayHello): void {
    const { port, plugin, plugin_without_mod, noProxy } = hello;
    const uses_next_token = this.#options.port !== undefined && this.#options.port !== port;
    if (uses_next_token) {
      const { nextToken: token } = this.#options;
      this.#options = { ...this.#options, token, nextToken: crypto.randomUUID() };
    }
    this.#options = { ...this.#options, port };
    const problem = this.#problem(hello);
    this.events.onState({
      state: "up",
      ...{ port, uses_next_token, plugin, plugin_without_mod },
      ...(noProxy !== undefined && { no_proxy: noProxy }),
      ...(problem !== undefined && { problem }),
    });
  }

  #problem({ probes, problem }: RelayHello): string | undefined {
    if (problem !== undefined) return visibleLine(problem, SHOWN_LENGTH);
    for (const [index, { remote, host }] of this.#options.mappings.entries()) {
      const there = probes[index];
      if (!there) return `it has no folder ${remote}: see path_mappings`;
      if (there !== probe(host))
        return `its ${remote} is another folder than ${host} here, or not up to date: see path_mappings`;
    }
    return undefined;
  }
}

/**
 * Starts the program that connects us to the relay by its stdin and stdout. `onOutput` gets the lines of its stderr.
 * `gone` resolves to a sentence when the program ends. Throws if the program does not exist.
 */
function startPeer(command: readonly string[], onOutput: (line: string) => void) {
  const [name = "", ...args] = command;
  const program = isAbsolute(name) ? { path: name } : onPath(name);
  if (program.path === undefined) throw new Error(program.why);
  // The relay must not connect to a Neovim on this machine.
  const { NVIM: _, CLAUDE_CODE_SSE_PORT: __, ...env } = process.env;
  const stdio = { stdin: "pipe", stdout: "pipe", stderr: "pipe" } as const;
  const child = Bun.spawn([program.path, ...args], { ...stdio, env });
  const ended = async () => {
    let last = "";
    for await (const line of linesOf(child.stderr, LIMITS.greetingBytes, "cut")) {
      const text = visibleLine(Bun.stripANSI(line), SHOWN_LENGTH);
      if (text === "") continue;
      last = `: ${text}`;
      onOutput(text);
    }
    const code = await child.exited;
    return `${name} ended with ${child.signalCode ?? `code ${code}`}${last}`;
  };
  const end = () => {
    void child.stdin.end();
    const kill = setTimeout(() => killNow(child.pid), KILL_MS);
    void child.exited.then(() => clearTimeout(kill));
  };
  return { wire: new Wire(child.stdout, child.stdin, end), gone: ended(), end };
}
