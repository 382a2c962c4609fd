import { isProblem } from "../doctor/finding";
import { message, UserError } from "../lib/errors";
import { Log } from "../lib/log";
import { print } from "../lib/output";
import { UnixSocket } from "../lib/unix-socket";
import { NAME, VERSION } from "../lib/version";
import { visibleLine } from "../lib/visible";
import { Outside } from "../remote/outside";
import { KILL_MS, startPeer } from "../remote/peer";
import { GONE, runRelay } from "../remote/relay";
import { StdioWire, socketWire, type Wire } from "../remote/wire";
import { parseOptions, usageError } from "./arguments";
import { signalled } from "./signals";

const USAGE = "relay --stdio | --connect unix:PATH | --check | -- COMMAND";
const OPTIONS = {
  stdio: { type: "boolean" },
  connect: { type: "string" },
  check: { type: "boolean" },
} as const;
const CONNECT_MS = 5_000;
const AGAIN_MS = 500;

/**
 * `claude-code-nvim relay`: the end of a remote beside the Claude CLI. `--stdio` is what Neovim's side starts
 * by `docker exec -i` and the like; `--connect` is started in the remote where Neovim's side cannot start
 * anything there. `--check` says what is wrong there. With `-- COMMAND` it is the user who starts it, where
 * Claude is; the command, `docker exec -i` or the like, starts `claude-code-nvim link` beside a Neovim elsewhere.
 */
export async function relay(args: string[]): Promise<number> {
  if (args[0] === "--") return relayOutside(args.slice(1));
  const { stdio, connect, check } = parseOptions(args, OPTIONS, USAGE);
  if ([stdio, connect, check].filter((one) => one !== undefined).length !== 1)
    throw usageError("relay needs one of its options", USAGE);
  if (check) return printCheck();
  // To stderr, which Neovim's side takes into its own log.
  const log = new Log();
  const stopped = signalled();
  const run = async (wire: Wire) =>
    log.info(`The relay ends: ${await runRelay(wire, stopped, log)}`);
  if (connect === undefined) await run(new StdioWire(Bun.stdin.stream(), Bun.stdout.writer()));
  else await connectAgainAndAgain(connect, run, stopped, log);
  return 0;
}

/** Nobody starts it again, and Neovim comes and goes: it connects whenever Neovim's side listens. */
async function connectAgainAndAgain(
  address: string,
  run: (wire: Wire) => Promise<void>,
  stopped: Promise<string>,
  log: Log,
): Promise<void> {
  const path = address.match(/^unix:(.+)$/)?.[1];
  if (path === undefined) throw usageError(`${address} is not unix:PATH`, USAGE);
  let isStopped = false;
  void stopped.then(() => {
    isStopped = true;
  });
  while (!isStopped) {
    try {
      await run(socketWire(await UnixSocket.connect(path, CONNECT_MS, "Neovim's side")));
    } catch (error) {
      log.info(`Waiting for Neovim's side at ${path}: ${message(error)}`);
    }
    await Promise.race([stopped, Bun.sleep(AGAIN_MS)]);
  }
}

/** Until it is stopped (0), or the command ends. Throws UserError, with why. */
async function relayOutside(command: string[]): Promise<number> {
  if (command.length === 0) throw usageError("relay needs a command behind --", USAGE);
  let isStopped = false;
  const stopped = signalled().finally(() => {
    isStopped = true;
  });
  const outside = new Outside(process.cwd(), (folders, problem) => {
    const how = `Connected to Neovim: type /ide in a Claude in ${folders.join(", ")}`;
    print(`${visibleLine(problem ?? how)}\n`);
  });
  const peer = startPeer(command, () => {});
  const cause = await runRelay(await peer.wire, stopped, new Log(), { outside });
  peer.end();
  const how = await Promise.race([peer.gone, Bun.sleep(2 * KILL_MS).then(() => GONE)]);
  if (isStopped) return 0;
  throw new UserError(cause === GONE ? how : `${command[0]}: ${cause}`);
}

/** What is wrong where the relay is to run; 1 if something is. */
async function printCheck(): Promise<number> {
  const [{ formatReport }, { gatherFacts }, { checkRelay }] = await Promise.all([
    import("./doctor"),
    import("../doctor/facts"),
    import("../doctor/check-relay"),
  ]);
  const findings = [...checkRelay(await gatherFacts(process.env))];
  print(`${NAME} ${VERSION} in ${process.cwd()}\n${formatReport(findings)}`);
  return findings.some(isProblem) ? 1 : 0;
}
