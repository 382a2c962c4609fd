import { SpareMemory } from "../ide/idle-gc";
import { type Launch, LaunchError, readLaunch } from "../ide/launch";
import { sweepStaleLocks } from "../ide/lock-file";
import { Publication } from "../ide/lock-keeper";
import { bindPort } from "../ide/port";
import { createIdeServer, type IdeServer } from "../ide/server";
import { Stdin } from "../ide/stdin";
import type { ExecuteCodeOptions } from "../ide/tools/execute-code";
import { Log } from "../lib/log";
import { Notes } from "../locate/project-file";
import { Registration } from "../locate/registry";
import type { Client } from "../mcp/client";
import { NeovimEditor } from "../neovim/editor";
import { DisconnectedError, NeovimRpc } from "../neovim/rpc";
import { projectAround } from "../setup/record";
import { WebSocketListener } from "../transport/websocket";
import { CONTRACT, VERSION } from "../version";

const NOT_ATTACHED = "it did not let us attach";

/** What the plugin's supervisor tells apart (lua/claude-code/server/init.lua). */
const EXIT = { ok: 0, usage: 2, contract: 3, noPort: 4, noNeovim: 5 } as const;

/**
 * `claude-code-nvim serve`: reads the launch line from stdin, connects back to the Neovim at $NVIM,
 * listens on loopback, publishes the lock file, and serves until Neovim or stdin is gone.
 */
export async function serve(args: string[]): Promise<number> {
  if (args.length > 0) return complain(EXIT.usage, `serve takes no arguments: ${args.join(" ")}`);
  const address = process.env.NVIM;
  if (!address) return complain(EXIT.usage, "serve is started by the plugin: $NVIM is not set");
  const stdin = new Stdin();
  let launch: Launch;
  try {
    launch = readLaunch(await stdin.firstLine);
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    return complain(EXIT.usage, error.message);
  }
  if (launch.contract !== CONTRACT) {
    return complain(
      EXIT.contract,
      `the plugin ${launch.version} speaks contract ${launch.contract}, ` +
        `this executable ${VERSION} speaks contract ${CONTRACT}`,
    );
  }
  let rpc: NeovimRpc;
  try {
    rpc = await NeovimRpc.connect(address);
  } catch (error) {
    return complain(EXIT.noNeovim, `Neovim at ${address} cannot be reached: ${reason(error)}`);
  }
  return run(rpc, address, launch, stdin);
}

async function run(rpc: NeovimRpc, address: string, launch: Launch, stdin: Stdin): Promise<number> {
  const log = new Log({ file: launch.logFile ?? undefined, level: launch.logLevel });
  const editor = new NeovimEditor(rpc, log, launch.workspaceFolders);
  const attached = Promise.withResolvers<void>();
  const events = {
    onClientsChanged: (clients: readonly Client[]) =>
      void attached.promise.then(() => report(editor, clients, log)),
  };
  const executeCode = executeCodeOptions(launch);
  const server = createIdeServer(editor, log, events, { executeCode });
  let listener: WebSocketListener;
  try {
    listener = await listen(server, launch, log);
  } catch (error) {
    rpc.close();
    return complain(EXIT.noPort, `no port could be opened on 127.0.0.1: ${reason(error)}`);
  }
  for (const path of sweepStaleLocks()) log.info(`Removed the stale lock file ${path}`);
  const publication = new Publication({
    port: listener.port,
    token: launch.token,
    pid: launch.pid,
    folders: launch.workspaceFolders,
    log,
  });
  const registration = new Registration({
    pid: launch.pid,
    address,
    workspaceFolders: launch.workspaceFolders,
    version: launch.version,
    port: listener.port,
    since: Date.now(),
  });
  const notes = new Notes(address, projectAround);
  notes.follow(launch.workspaceFolders);
  log.info(`Serving Neovim ${launch.pid} on port ${listener.port}`);
  editor.onDelta.on(({ folders }) => {
    if (!folders) return;
    publication.follow(folders);
    registration.follow(folders);
    notes.follow(folders);
  });
  const attaching = attach(editor, listener, publication);
  attaching.then(attached.resolve, (error) => {
    if (!isGone(error)) log.error(`Attaching failed: ${reason(error)}`);
  });

  const ending = await Promise.race([
    ended(rpc, editor, stdin),
    attaching.then(
      () => new Promise<never>(() => {}),
      (error) => (isGone(error) ? "Neovim is gone" : NOT_ATTACHED),
    ),
  ]);
  log.info(`Ending: ${ending}`);
  await server.end();
  // All at once from here: a Delta in between would publish us anew.
  publication.end();
  registration.end();
  notes.end();
  rpc.close();
  await listener.stop();
  return ending === NOT_ATTACHED ? EXIT.noNeovim : EXIT.ok;
}

/** Stopped before it was done, attaching fails too, which is no error. */
function isGone(error: unknown): boolean {
  return error instanceof DisconnectedError;
}

/** Undefined unless the user switched executeCode on. */
function executeCodeOptions({ options }: Launch): ExecuteCodeOptions | undefined {
  const chosen = options.execute_code;
  if (!chosen?.enabled) return undefined;
  return {
    languages: chosen.languages,
    default: chosen.default_language,
    timeoutMs: chosen.timeout_ms,
    maxOutputBytes: chosen.max_output_bytes,
  };
}

function listen(server: IdeServer, launch: Launch, log: Log): Promise<WebSocketListener> {
  const spareMemory = new SpareMemory();
  const bind = (port: number) =>
    new WebSocketListener({
      port,
      token: launch.token,
      onConnect: (wire) => {
        spareMemory.noteConnection();
        return server.connect(wire);
      },
      onRefuse: (cause) => log.warn(`Refused a connection: ${cause}`),
      onTraffic: (length) => spareMemory.note(length),
    });
  return bindPort(bind, { wanted: launch.port ?? undefined, range: launch.portRange });
}

async function attach(
  editor: NeovimEditor,
  listener: WebSocketListener,
  publication: Publication,
): Promise<void> {
  await editor.attach({ contract: CONTRACT, version: VERSION });
  const { problem } = publication;
  const info = { port: listener.port, lockFile: publication.path };
  await editor.ready({ ...info, ...(problem !== undefined && { problem }) });
}

/** Resolves, with the reason, when there is nobody left to serve. */
function ended(rpc: NeovimRpc, editor: NeovimEditor, stdin: Stdin): Promise<string> {
  return new Promise((resolve) => {
    rpc.onClose.on(() => resolve("Neovim is gone"));
    editor.onShutdown.on(() => resolve("Neovim asked for it"));
    void stdin.ended.then(() => resolve("stdin ended"));
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.on(signal, () => resolve(signal));
    }
  });
}

function report(editor: NeovimEditor, clients: readonly Client[], log: Log): void {
  const list = clients.map(({ id, info, pid }) => ({
    id,
    ...(info && { name: info.name, version: info.version }),
    ...(pid !== undefined && { pid }),
  }));
  editor.clients(list).catch((error) => log.warn(`Telling the clients failed: ${reason(error)}`));
}

function complain(code: number, message: string): number {
  process.stderr.write(`claude-code-nvim: ${message}\n`);
  return code;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
