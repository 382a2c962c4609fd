import { dirname } from "node:path";
import { openServerPort } from "../ide/launch";
import { isNamed, LockKeeper } from "../ide/lock-file";
import { message } from "../lib/errors";
import { parseJson } from "../lib/json";
import { linesOf } from "../lib/lines";
import type { Log } from "../lib/log";
import { realPath, removeFile, statOf } from "../lib/paths";
import { makePrivateFolder } from "../lib/private-folder";
import { UnixSocket } from "../lib/unix-socket";
import { CONTRACT, VERSION } from "../lib/version";
import { type ClosableTransport, WebSocketListener } from "../transport/websocket";
import { type Channel, Channels } from "./channels";
import { sendConversation } from "./conversation";
import { type HostHello, readHostHello, relayHello } from "./hello";
import { relaySocket } from "./inside";
import { LIMITS, type Wire } from "./wire";

/** The link pings every 10 s. When `docker exec` is killed, nothing else says so in the container. */
const SILENCE_MS = 30_000;

/** Why the relay ends when its wire does. */
const GONE = "the editor's side is gone";

/**
 * The end of a remote that runs beside the Claude CLI: it listens on the remote's loopback, publishes a lock file, and
 * passes on what comes. Resolves, with the reason, when the link is gone; the lock file is removed then. It decides
 * nothing: all checks are the link's.
 */
export async function runRelay(
  wire: Wire,
  stopped: Promise<string>,
  log: Log,
  silenceMs = SILENCE_MS,
): Promise<string> {
  const first = await Promise.race([wire.lines.next(), stopped]);
  if (typeof first === "string") return first;
  if (wire.problem !== undefined) return wire.problem;
  if (first.done) return GONE;
  const hello = readHostHello(first.value);
  if (typeof hello === "string") {
    wire.write({ contract: CONTRACT, version: VERSION });
    return `the editor's side cannot be served: ${hello}`;
  }
  const { listener, token } = await openPort(hello);
  const channels = new Channels(
    wire,
    "relay",
    (channel, d) =>
      channel.kind === "conversation" ? sendConversation(channel, d) : channel.close(),
    (cause) => log.warn(`Refused ${cause}`),
  );
  const folders = hello.roots.filter((root) => statOf(root)?.isDirectory()).map(realPath);
  const lock = new LockKeeper({ port: listener.port, token, folders, log });
  listener.admit({
    token,
    onConnect: (client) => join(client, channels),
    onRefuse: (cause) => log.warn(`Refused a connection: ${cause}`),
  });
  const beside = listenBeside(listener.port, channels, log);
  wire.write(relayHello(hello.roots, listener.port, lock.problem));
  try {
    const how = await Promise.race([stopped, channels.pass(silenceMs)]);
    if (how === "silent") return "the editor's side is silent";
    return how === "ended" ? GONE : how;
  } catch (error) {
    return `the editor's side: ${message(error)}`;
  } finally {
    channels.dispose();
    lock.end();
    beside?.stop();
    removeFile(relaySocket(listener.port));
    await listener.stop();
    wire.end();
  }
}

/** Reuses the port of before if it is free and no other editor's: machines may share a folder of lock files. */
function openPort({ port, token, nextToken }: HostHello) {
  const listen = (number: number) => {
    if (isNamed(number, [token, nextToken]))
      throw Object.assign(new Error(`a lock file names ${number}`), { code: "EADDRINUSE" });
    return new WebSocketListener(number);
  };
  return openServerPort({ port, token, nextToken }, listen);
}

/** Gives a client its own channel to the link. */
function join(client: ClosableTransport, channels: Channels): void {
  const channel = channels.open("ide");
  if (!channel) return client.close();
  client.onMessage = (text) => channel.send(text);
  client.onClose = () => channel.close();
  channel.onMessage = (text) => client.send(text);
  channel.onClose = () => client.close();
}

/** For hooks and MCP servers of the CLI there. Undefined if there can be no socket: the CLI continues without. */
function listenBeside(port: number, channels: Channels, log: Log): { stop(): void } | undefined {
  const path = relaySocket(port);
  try {
    makePrivateFolder(dirname(path));
    removeFile(path);
    return UnixSocket.listen(path, (program) => void passProgram(program, channels));
  } catch (error) {
    log.warn(`Hooks do not reach Neovim: ${path}: ${message(error)}`);
    return undefined;
  }
}

/** Its first line says what it is (`Opening` in inside.ts); each line after that is a message. */
async function passProgram(program: UnixSocket, channels: Channels): Promise<void> {
  let channel: Channel | undefined;
  for await (const line of linesOf(program, LIMITS.lineBytes)) {
    if (channel) {
      channel.send(line);
      continue;
    }
    const { kind } = (parseJson(line) ?? {}) as { kind?: unknown };
    channel = kind === "hook" || kind === "mcp" ? channels.open(kind, line) : undefined;
    if (!channel) break;
    channel.onMessage = (text) => program.write(Buffer.from(`${text}\n`));
    channel.onClose = () => program.end();
  }
  channel?.close();
  program.end();
}
