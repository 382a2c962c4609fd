import { taskList } from "../claude/tasks";
import { openServerPort } from "../ide/launch";
import { isNamed, LockKeeper } from "../ide/lock-file";
import { message } from "../lib/errors";
import { isObject, parseJson } from "../lib/json";
import { linesOf } from "../lib/lines";
import type { Log } from "../lib/log";
import { realPath, removeFile, statOf } from "../lib/paths";
import { dirname } from "../lib/platform";
import { makePrivateFolder } from "../lib/private-folder";
import { UnixSocket } from "../lib/unix-socket";
import { CONTRACT, VERSION } from "../lib/version";
import { type ModResponse, serveMods } from "../mod/socket";
import { type ClosableTransport, WebSocketListener } from "../transport/websocket";
import { type Channel, Channels } from "./channels";
import { sendConversation } from "./conversation";
import { type HostHello, readHostHello, relayHello } from "./hello";
import { relaySocket } from "./inside";
import { LIMITS, type Wire } from "./wire";

/** The link pings every 10 s. Only silence shows in a container that `docker exec` was killed. */
const SILENCE_MS = 30_000;

const GONE = "the editor's side is gone";

/**
 * Runs the relay beside the Claude CLI. It listens on the remote's loopback, publishes a lock file, and passes on all
 * messages; the link checks them. Resolves to the reason when the link is gone, and removes the lock file then.
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
  const mods = serveMods(token, log, (path, body, signal) =>
    passMod(channels, path, withTasks(body), signal),
  );
  const servesMods = mods.problem === undefined;
  const lock = new LockKeeper({ port: listener.port, token, folders, servesMods, log });
  listener.admit({
    token,
    onConnect: (client) => join(client, channels),
    onRefuse: (cause) => log.warn(`Refused a connection: ${cause}`),
  });
  const programs = openSocket(listener.port, channels, log);
  try {
    wire.write(relayHello(hello.roots, listener.port, lock.problem));
    const how = await Promise.race([stopped, channels.pass(silenceMs)]);
    if (how === "silent") return "the editor's side is silent";
    return how === "ended" ? GONE : how;
  } catch (error) {
    return `the editor's side: ${message(error)}`;
  } finally {
    channels.dispose();
    lock.end();
    programs?.stop();
    mods.stop();
    removeFile(relaySocket(listener.port));
    await listener.stop();
    wire.end();
  }
}

/** Reuses the previous port if it is free, and no other editor's lock file names it: machines may share these files. */
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

/** Adds the task list of the session, whose files are on this machine, to a mod's message. */
function withTasks(body: string): string {
  const report = parseJson(body);
  // The id becomes part of a path.
  const id = isObject(report) && /^[\w-]+$/.exec(String(report.session))?.[0];
  return id ? JSON.stringify({ ...(report as object), tasks: taskList(id) }) : body;
}

/** Gives a mod's request its own channel to the link. The channel ends with the response. */
async function passMod(channels: Channels, path: string, body: string, signal: AbortSignal) {
  const channel = channels.open("mod", path);
  if (!channel) return { status: 503 };
  const response = Promise.withResolvers<ModResponse>();
  channel.onMessage = (text) => response.resolve(JSON.parse(text));
  channel.onClose = () => response.resolve({ status: 503 });
  signal.addEventListener("abort", () => response.resolve({ status: 503 }));
  channel.send(body);
  return response.promise.finally(() => channel.close());
}

/** Listens for hooks and MCP servers of the CLI. If that fails, the CLI continues without them. */
function openSocket(port: number, channels: Channels, log: Log): { stop(): void } | undefined {
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

/** The program's first line is an `Opening` (helpers.ts). Each line after that is a message. */
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
