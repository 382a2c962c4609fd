import { parseArgs } from "node:util";
import { examine } from "../doctor";
import { gather } from "../doctor/facts";
import { isFault } from "../doctor/finding";
import { report } from "../doctor/report";
import { NAME, VERSION } from "../version";

const USAGE = "doctor takes --json and --cli PATH";

/**
 * `claude-code-nvim doctor [--json] [--cli PATH]`: says why a Claude CLI started in the working
 * folder does not get on with Neovim, and the command that mends it. PATH is the CLI's program, if
 * it is not the `claude` of $PATH. Exits 1 when something is wrong.
 */
export async function doctor(args: string[]): Promise<number> {
  let options: { json?: boolean | undefined; cli?: string | undefined };
  try {
    options = parseArgs({
      args,
      options: { json: { type: "boolean" }, cli: { type: "string" } },
    }).values;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`claude-code-nvim: ${reason}\n${USAGE}\n`);
    return 2;
  }
  const surroundings = await gather(process.env, options.cli);
  const findings = examine(surroundings);
  if (options.json) process.stdout.write(`${JSON.stringify({ findings })}\n`);
  else process.stdout.write(`${NAME} ${VERSION} in ${surroundings.cwd}\n${report(findings)}`);
  return findings.some(isFault) ? 1 : 0;
}
