import { isProblem } from "../doctor/finding";
import { Log } from "../lib/log";
import { print } from "../lib/output";
import { signalled } from "../lib/process";
import { NAME, VERSION } from "../lib/version";
import { runRelay } from "../remote/relay";
import { Wire } from "../remote/wire";
import { parseOptions, usageError } from "./arguments";

const USAGE = "relay --stdio | --check";
const OPTIONS = { stdio: { type: "boolean" }, check: { type: "boolean" } } as const;

/**
 * `claude-code-nvim relay`: the end of a remote beside the Claude CLI. `--stdio` is what Neovim's side starts
 * by `docker exec -i` and the like. `--check` says what is wrong there.
 */
export async function relay(args: string[]): Promise<number> {
  const { stdio, check } = parseOptions(args, OPTIONS, USAGE);
  if (stdio === check) throw usageError("relay needs one of its options", USAGE);
  if (check) return printCheck();
  // To stderr, which Neovim's side takes into its own log.
  const log = new Log();
  const wire = new Wire(Bun.stdin.stream(), Bun.stdout.writer());
  log.info(`The relay ends: ${await runRelay(wire, signalled(), log)}`);
  return 0;
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
