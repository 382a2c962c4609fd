import { dirname } from "node:path";
import { isNamed } from "../ide/lock-file";
import { LockKeeper } from "../ide/lock-keeper";
import { openServerPort } from "../ide/server-port";
import { message } from "../lib/errors";
import { IdleGc } from "../lib/idle-gc";
import { parseJson } from "../lib/json";
import { linesOf } from "../lib/lines";
import type { Log } from "../lib/log";
import { makePrivateFolder } from "../lib/private-folder";
import { UnixSocket } from "../lib/unix-socket";
import { CONTRACT, VERSION } from "../lib/version";
import { type ClosableTransport, WebSocketListener } from "../transport/websocket";
import { type Channel, Channels } from "./channels";
import { sendConversation } from "./conversation";
import { serveFiles } from "./files";
import { type HostHello, lookAt, readHostHello, relayHello } from "./hello";
import type { Outside } from "./outside";
import { Greeting } from "./peer";
import { noteAlone, relaySocket, removeSocket } from "./socket";
import { LIMITS, type Wire } from "./wire";

/** The link pings every 10 s. When `docker exec` is killed, nothing else says so in the container. */
const SILENCE_MS = 30_000;

/** How a relay ends whose wire has. */
export const GONE = "the editor's side is gone";

export interface RelayOptions {
  silenceMs?: number;
  /** It was the user who started it, for a Neovim elsewhere: that end may do little here. */
  outside?: Outside;
}

/**
 * The end of a remote that runs beside the Claude CLI: it listens on the remote's loopback, publishes a lock
 * file, and passes on what comes. Resolves, with the reason, when the link is gone; the lock file is removed
 * then. It decides nothing: all checks are the link's.
 */
export async function runRelay(
  wire: Wire,
  stopped: Promise<string>,
  log: Log,
  { silenceMs = SILENCE_MS, outside }: RelayOptions = {},
): Promise<string> {
  const greeting = new Greeting();
  const lines = linesOf(greeting.skipped(wire.input), LIMITS.lineBytes);
  const first = await Promise.race([lines.next(), stopped]);
  if (typeof first === "string") return first;
  if (greeting.problem !== undefined) return greeting.problem;
  if (first.done) return GONE;
  const hello = readHostHello(first.value);
  if (typeof hello === "string") {
    const own = { contract: CONTRACT, version: VERSION };
    wire.write(Buffer.from(`${JSON.stringify(own)}\n`));
    return `the editor's side cannot be served: ${hello}`;
  }
  const roots = outside ? outside.roots(hello.roots) : hello.roots.map((path) => lookAt(path));
  if (typeof roots === "string") return roots;
  const alone = outside ? [] : (hello.alone ?? []);
  const { listener, token } = await openPort(hello);
  /** Those that the link has. */
  const files = new Map<string, string>();
  const review = async (channel: Channel) => {
    // git asks for a message by the socket of this relay.
    process.env.CLAUDE_CODE_SSE_PORT = String(listener.port);
    // Loaded only here: most relays pass on what comes, and do nothing else.
    const { serveReview } = await import("./review-inside");
    serveReview(channel, alone, files, log);
  };
  const channels = new Channels(
    wire,
    "relay",
    (channel, d) => {
      // Who is at the other end of one outside is believed in nothing.
      if (outside) return channel.close();
      if (channel.kind === "file") return sendConversation(channel, d);
      if (channel.kind === "files") return serveFiles(channel, alone, files);
      if (channel.kind === "review") return void review(channel);
      channel.close();
    },
    (cause) => log.warn(`Refused ${cause}`),
  );
  const said = relayHello(roots, listener.port);
  const folders = said.roots.flatMap(({ real }) => real ?? []);
  const lock = new LockKeeper({ port: listener.port, token, folders, log });
  const idleGc = new IdleGc();
  listener.admit({
    token,
    onConnect: (client) => join(client, channels),
    onRefuse: (cause) => log.warn(`Refused a connection: ${cause}`),
    onTraffic: (length) => idleGc.count(length),
  });
  const beside = listenBeside(listener.port, alone, channels, log, outside);
  const whole = {
    ...said,
    ...(lock.problem !== undefined && { problem: lock.problem }),
    // Nothing there needs to know these, nor the hosts of this network.
    ...(outside && { home: "", configDir: "", executable: "", noProxy: undefined }),
  };
  wire.write(Buffer.from(`${JSON.stringify(whole)}\n`));
  outside?.onServing(folders, lock.problem);
  try {
    return await Promise.race([stopped, pass(lines, channels, silenceMs)]);
  } finally {
    lock.end();
    beside?.stop();
    removeSocket(listener.port);
    await listener.stop();
    wire.end();
  }
}

/** That of before if it is free and no other editor's: a folder of lock files may be shared by many machines. */
function openPort({ port, token, nextToken }: HostHello) {
  const listen = (number: number) => {
    if (isNamed(number, [token, nextToken]))
      throw Object.assign(new Error(`a lock file names ${number}`), { code: "EADDRINUSE" });
    return new WebSocketListener(number);
  };
  return openServerPort({ port, token, nextToken }, listen);
}

/** A client here is a channel there. */
function join(client: ClosableTransport, channels: Channels): void {
  const channel = channels.open("ide");
  if (!channel) return client.close();
  client.onMessage = (text) => channel.send(text);
  client.onClose = () => channel.close();
  channel.onMessage = (text) => client.send(text);
  channel.onClose = () => client.close();
}

async function pass(
  lines: AsyncIterable<string>,
  channels: Channels,
  silenceMs: number,
): Promise<string> {
  const silent = Promise.withResolvers<string>();
  const timer = setTimeout(() => silent.resolve("the editor's side is silent"), silenceMs);
  const passed = (async () => {
    for await (const line of lines) {
      timer.refresh();
      channels.receive(line);
    }
    return GONE;
  })();
  try {
    return await Promise.race([silent.promise, passed]);
  } catch (error) {
    return `the editor's side: ${message(error)}`;
  } finally {
    clearTimeout(timer);
    channels.dispose();
  }
}

/** For hooks and MCP servers of the CLI there. Undefined where there can be no socket: the CLI goes on without. */
function listenBeside(
  port: number,
  alone: readonly string[],
  channels: Channels,
  log: Log,
  outside?: Outside,
): { stop(): void } | undefined {
  const path = relaySocket(port);
  try {
    makePrivateFolder(dirname(path));
    removeSocket(port);
    if (alone.length > 0) noteAlone(port, alone);
    return UnixSocket.listen(path, (program) => void passProgram(program, channels, outside));
  } catch (error) {
    log.warn(`Hooks do not reach Neovim: ${path}: ${message(error)}`);
    return undefined;
  }
}

/** Its first line says what it is (`Opening` in inside.ts); each line after that is a message. */
async function passProgram(
  program: UnixSocket,
  channels: Channels,
  outside?: Outside,
): Promise<void> {
  let channel: Channel | undefined;
  for await (const line of linesOf(program, LIMITS.lineBytes)) {
    if (channel) {
      channel.send(line);
      continue;
    }
    const { kind, args } = (parseJson(line) ?? {}) as { kind?: unknown; args?: unknown[] };
    // A hook that only grants: the CLI asks by itself.
    if (outside && args?.[0] === "permission-request") break;
    const isKnown = kind === "hook" || kind === "mcp" || (kind === "message" && !outside);
    channel = isKnown ? channels.open(kind, line) : undefined;
    if (!channel) break;
    channel.onMessage = (text) => {
      const said = outside && kind === "hook" ? outside.hookAnswer(text) : text;
      if (said !== undefined) program.write(Buffer.from(`${said}\n`));
      // It may wait for a CLI that does not read.
      if (program.unsentBytes > LIMITS.backlogBytes) program.destroy();
    };
    channel.onClose = () => program.end();
  }
  channel?.close();
  program.end();
}
