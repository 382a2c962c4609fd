import { isAbsolute } from "node:path";
import { cliArguments } from "../claude/cli-arguments";
import { message } from "../lib/errors";
import { linesOf } from "../lib/lines";
import type { Log } from "../lib/log";
import { killNow } from "../lib/process";
import { onPath } from "../lib/programs";
import { visibleLine } from "../lib/visible";
import { type Channel, Channels, type Kind } from "./channels";
import { hostHello, probe, type RelayHello, readRelayHello } from "./hello";
import type { Mapping } from "./path-map";
import { LIMITS, Wire } from "./wire";

/** After each end, how long until the relay is started again; the last one stays. The CLI tries for 17 s. */
const RESTART_MS = [200, 1_000, 3_000, 8_000, 30_000];
/** After a relay has run this long, the delays start again from the first. */
const STEADY_MS = 30_000;
const PING_MS = 10_000;
const SILENCE_MS = 30_000;
/** A container may be slow to start a program; so is the way to another machine. */
const HELLO_MS = 20_000;
/** For the relay's program to end on its own. */
const KILL_MS = 2_000;
/** The limit of a line of the relay, or of the program that starts it. */
const SHOWN_LENGTH = 500;
const ENDED = "its connection has ended";

interface RemoteOptions {
  name: string;
  /** The command that starts the relay there. */
  relay: readonly string[];
  mappings: readonly Mapping[];
  token: string;
  nextToken: string;
  /** The port of the relay before, which the next one tries again. */
  port?: number | undefined;
}

/** The report to Neovim: `claude-code.RemoteReport` in Lua. */
export type LinkState =
  | { state: "starting" }
  | {
      state: "up";
      port: number;
      uses_next_token: boolean;
      no_proxy?: string;
      cli_arguments: object;
      /** Clients can connect, but something is wrong. */
      problem?: string;
    }
  | { state: "down"; cause: string };

interface LinkEvents {
  /** The remote has opened a channel. Set its receivers synchronously. */
  onChannel(channel: Channel, d: string): void;
  onState(state: LinkState): void;
}

/** Neovim's end of one remote: from start() on starts its relay, and again when it ends, until end(). */
export class Link {
  readonly #ended = Promise.withResolvers<string>();
  #isEnded = false;
  #options: RemoteOptions;
  /** Those of the relay that runs. */
  #channels: Channels | undefined;

  constructor(
    options: RemoteOptions,
    private readonly events: LinkEvents,
    private readonly log: Log,
    private readonly silenceMs = SILENCE_MS,
  ) {
    this.#options = options;
  }

  start(): void {
    void this.#run();
  }

  /** Opens a channel to the relay. Undefined: it is not connected, or has as many as may be. */
  open(kind: Kind, d: string): Channel | undefined {
    return this.#channels?.open(kind, d);
  }

  end(): void {
    this.#isEnded = true;
    this.#ended.resolve("it was stopped");
  }

  async #run(): Promise<void> {
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

  /** One relay, from its start to its end. Resolves to why it has ended, in words that follow its name. */
  async #once(): Promise<string> {
    const { name, relay } = this.#options;
    // The remote says it, so its name comes first.
    const peer = startPeer(relay, (text) =>
      this.log.info(`The remote ${name} says: ${text}`, name),
    );
    try {
      const cause = await Promise.race([this.#serve(peer.wire), this.#ended.promise]);
      if (cause !== ENDED) return cause;
      // The program's own words say more than that it has ended.
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
    // It may have been stopped before it said so.
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
    const { port, executable, noProxy } = hello;
    const uses_next_token = this.#options.port !== undefined && this.#options.port !== port;
    if (uses_next_token) {
      const { nextToken: token } = this.#options;
      this.#options = { ...this.#options, token, nextToken: crypto.randomUUID() };
    }
    this.#options = { ...this.#options, port };
    const problem = this.#problem(hello);
    this.events.onState({
      state: "up",
      ...{ port, uses_next_token, cli_arguments: cliArguments(executable) },
      ...(noProxy !== undefined && { no_proxy: noProxy }),
      ...(problem !== undefined && { problem }),
    });
  }

  #problem({ probes, problem }: RelayHello): string | undefined {
    if (problem !== undefined) return visibleLine(problem, SHOWN_LENGTH);
    for (const [index, { remote, host }] of this.#options.mappings.entries()) {
      const there = probes[index];
      if (!there) return `there is no folder ${remote} there: see path_mappings`;
      if (there !== probe(host))
        return `${remote} there is another folder than ${host} here, or not up to date: see path_mappings`;
    }
    return undefined;
  }
}

/**
 * Starts a program that speaks on stdin and stdout. `onSaid` gets the lines of its stderr; `gone` resolves with how it
 * ended. Throws if the program does not exist.
 */
function startPeer(command: readonly string[], onSaid: (line: string) => void) {
  const [name = "", ...args] = command;
  const program = isAbsolute(name) ? { path: name } : onPath(name);
  if (program.path === undefined) throw new Error(program.why);
  // Nothing leads from there to a Neovim of here.
  const { NVIM: _, CLAUDE_CODE_SSE_PORT: __, ...env } = process.env;
  const stdio = { stdin: "pipe", stdout: "pipe", stderr: "pipe" } as const;
  const child = Bun.spawn([program.path, ...args], { ...stdio, env });
  const ended = async () => {
    let last = "";
    for await (const line of linesOf(child.stderr, LIMITS.greetingBytes, "cut")) {
      const text = visibleLine(Bun.stripANSI(line), SHOWN_LENGTH);
      if (text === "") continue;
      last = `: ${text}`;
      onSaid(text);
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
