import { Log } from "../lib/log";
import { signalled } from "../lib/process";
import { runRelay } from "../remote/relay";
import { Wire } from "../remote/wire";
import { parseOptions, usageError } from "./arguments";

const OPTIONS = { stdio: { type: "boolean" } } as const;

/**
 * `claude-code-nvim relay --stdio` runs beside the Claude CLI in a container or on another machine. The executable
 * beside Neovim starts it, for example with `docker exec -i`.
 */
export async function relay(args: string[]): Promise<number> {
  const usage = "relay --stdio";
  if (!parseOptions(args, OPTIONS, usage).stdio) throw usageError("relay needs --stdio", usage);
  // The log goes to stderr. The executable beside Neovim copies that into its own log.
  const log = new Log();
  const wire = new Wire(Bun.stdin.stream(), Bun.stdout.writer());
  log.info(`The relay ends: ${await runRelay(wire, signalled(), log)}`);
  return 0;
}
