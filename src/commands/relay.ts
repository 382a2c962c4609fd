import { isProblem } from "../doctor/finding";
import { message } from "../lib/errors";
import { Log } from "../lib/log";
import { print } from "../lib/output";
import { UnixSocket } from "../lib/unix-socket";
import { NAME, VERSION } from "../lib/version";
import { runRelay } from "../remote/relay";
import { StdioWire, socketWire, type Wire } from "../remote/wire";
import { parseOptions, usageError } from "./arguments";
import { signalled } from "./signals";

const USAGE = "relay --stdio | --connect unix:PATH | --check";
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
 * anything there. `--check` says what is wrong there.
 */
export async function relay(args: string[]): Promise<number> {
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
