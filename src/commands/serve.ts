import { type Launch, openServerPort, readLaunch } from "../ide/launch";
import { LockKeeper, lockFolder, sweepStaleLocks } from "../ide/lock-file";
import { createIdeServer } from "../ide/server";
import { EXIT_CODES, Failure, failureCode, message } from "../lib/errors";
import { linesOf } from "../lib/lines";
import { Log } from "../lib/log";
import { signalled } from "../lib/process";
import { CONTRACT, VERSION } from "../lib/version";
import { visibleLine } from "../lib/visible";
import { ProjectFiles } from "../locate/project-file";
import { Registration } from "../locate/registry";
import type { Client } from "../mcp/protocol";
import { ModEndpoint } from "../mod/endpoint";
import { writePlugins } from "../mod/plugin";
import { NeovimEditor } from "../neovim/editor";
import { NeovimRpc } from "../neovim/rpc";
import { placeOf } from "../sessions/place";
import { projectAround } from "../setup/record";
import { WebSocketListener } from "../transport/websocket";
import { usageError } from "./arguments";
import { neovimRequests } from "./neovim-requests";

const NOT_ATTACHED = "it did not let us attach";

const MAX_OF_NAME = 100;

/**
 * `claude-code-nvim serve` reads the launch line from stdin, connects to the Neovim at $NVIM, listens on loopback,
 * publishes the lock file, and serves until Neovim or stdin is gone.
 */
export async function serve(args: string[]): Promise<number> {
  if (args.length > 0) throw usageError(`serve takes no arguments: ${args.join(" ")}`, "serve");
  const address = process.env.NVIM;
  if (!address) throw usageError("the plugin starts serve: $NVIM is not set", "serve");
  // `process.stdin`, one of Node's streams, would double the time of a start.
  const stdin = linesOf(Bun.stdin.stream());
  const launch = readCompatibleLaunch((await stdin.next()).value ?? "");
  const rpc = await NeovimRpc.connect(address).catch((error) => {
    const text = `Neovim at ${address} cannot be reached: ${message(error)}`;
    throw new Failure(text, "no_neovim");
  });
  return run(rpc, address, launch, stdin);
}

async function run(
  rpc: NeovimRpc,
  address: string,
  launch: Launch,
  stdin: AsyncIterable<string>,
): Promise<number> {
  const gone = ended(rpc, stdin);
  const log = new Log({ file: launch.logFile ?? undefined, level: launch.logLevel });
  const listen = (port: number) => new WebSocketListener(port);
  const { listener, token } = await openServerPort(launch, listen).catch((error) => {
    rpc.close();
    throw new Failure(`no port could be opened on 127.0.0.1: ${message(error)}`, "no_port");
  });
  const editor = new NeovimEditor(rpc, log, launch.workspaceFolders);
  // Publish at once: everything below runs before the first client can be served.
  const mod = new ModEndpoint(editor, log, token);
  const published = new Published({ ...launch, token }, address, listener.port, mod, log);
  const { lock } = published;
  const failed = Promise.withResolvers<string>();
  // Report to Neovim only after it has let us attach.
  const attached = attach(editor, launch, { port: listener.port, token, lock, mod }, () =>
    requests.reportSessions(),
  ).catch((error) => {
    // Attaching also fails if Neovim ends first. That is not an error.
    const isGone = failureCode(error) === "gone";
    if (!isGone) log.error(`Attaching failed: ${message(error)}`);
    failed.resolve(isGone ? "Neovim is gone" : NOT_ATTACHED);
    return new Promise<never>(() => {});
  });
  const report = (method: "clients" | "lock_problem", params: object) => {
    attached
      .then(() => editor.call(method, params))
      .catch((error) => log.warn(`The report "${method}" failed: ${message(error)}`));
  };
  const onClientsChanged = (clients: readonly Client[]) => {
    report("clients", { clients: clients.map((client) => described(client, launch.pid)) });
    void attached.then(() => requests.clientsChanged());
  };
  const server = createIdeServer(editor, log, onClientsChanged);
  listener.admit({
    token,
    onConnect: (transport) => server.connect(transport),
    onRefuse: (cause) => log.warn(`Refused a connection: ${cause}`),
  });
  const requests = neovimRequests(editor, server, mod, log, launch.pid);
  void attached.then(() => requests.start());
  const unfollow = editor.on("state", ({ folders }) => {
    if (folders) published.follow(folders);
  });
  lock.onProblem.on((problem) => report("lock_problem", { problem }));
  const ending = await Promise.race([gone, failed.promise]);
  log.info(`Ending: ${ending}`);
  // Unpublish first: a CLI that starts now would find a port that is about to close.
  unfollow();
  published.end();
  await server.end();
  const finished = requests.end();
  rpc.close();
  await Promise.all([listener.stop(), finished]);
  return ending === NOT_ATTACHED ? (EXIT_CODES.no_neovim ?? 1) : 0;
}

function readCompatibleLaunch(line: string): Launch {
  const launch = readLaunch(line);
  if (launch.contract === CONTRACT) return launch;
  const text =
    `the plugin ${launch.version} needs contract ${launch.contract}, ` +
    `this executable ${VERSION} has contract ${CONTRACT}`;
  throw new Failure(text, "contract");
}

/** The files by which other programs find this Neovim while we serve. */
class Published {
  readonly lock: LockKeeper;
  readonly #registration: Registration;
  readonly #projectFiles: ProjectFiles;

  constructor(launch: Launch, address: string, port: number, mod: ModEndpoint, log: Log) {
    const { pid, token, workspaceFolders: folders } = launch;
    for (const path of sweepStaleLocks(lockFolder(), { port, token })) {
      log.info(`Removed the stale lock file ${path}`);
    }
    const since = Date.now();
    const entry = { pid, address, workspaceFolders: folders, port, since };
    this.#registration = new Registration(entry);
    this.#projectFiles = new ProjectFiles(address, projectAround);
    this.#projectFiles.follow(folders);
    // The lock file comes last: a program that sees it can rely on the other files.
    const servesMods = mod.problem === undefined;
    this.lock = new LockKeeper({ port, token, pid, folders, servesMods, log });
    log.info(`Serving Neovim ${pid} on port ${port}`);
  }

  /** Real paths, the current working directory first. */
  follow(folders: readonly string[]): void {
    this.lock.follow(folders);
    this.#registration.follow(folders);
    this.#projectFiles.follow(folders);
  }

  end(): void {
    this.lock.end();
    this.#registration.end();
    this.#projectFiles.end();
  }
}

/** Attaches to Neovim, and says that we accept clients. */
async function attach(
  editor: NeovimEditor,
  { executable, token: given }: Launch,
  { port, token, lock, mod }: { port: number; token: string; lock: LockKeeper; mod: ModEndpoint },
  reportSessions: () => Promise<unknown>,
): Promise<void> {
  await editor.attach({ contract: CONTRACT, version: VERSION });
  await reportSessions();
  const { problem, path } = lock;
  const plugins = writePlugins(executable);
  // `claude-code.ReadyInfo` in Lua.
  await editor.call("ready", {
    port,
    lock_file: path,
    uses_next_token: token !== given,
    ...plugins,
    // A mod would find no socket in the lock file, and end.
    ...(mod.problem && { no_mod: mod.problem, plugin: plugins.plugin_without_mod }),
    problem,
  });
}

/** Resolves to the reason when there is no Neovim left to serve. */
function ended(rpc: NeovimRpc, stdin: AsyncIterable<string>): Promise<string> {
  return new Promise((resolve) => {
    rpc.onClose.on(() => resolve("Neovim is gone"));
    void untilEnd(stdin).then(() => resolve("stdin ended"));
    void signalled().then(resolve);
  });
}

/** stdin ends when the process at its other end does. */
async function untilEnd(lines: AsyncIterable<string>): Promise<void> {
  for await (const _ of lines);
}

/** A client for Neovim's list. Its name may be any text. */
function described({ id, info, pid, remote }: Client, neovim: number): object {
  const shown = (text: string) => visibleLine(text, MAX_OF_NAME);
  return {
    id,
    ...(info && { name: shown(info.name), version: shown(info.version) }),
    ...(pid !== undefined && { pid, place: placeOf(pid, neovim) }),
    ...(remote && { remote: remote.name }),
  };
}
