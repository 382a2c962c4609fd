import { runChecks } from "../doctor";
import { gatherFacts } from "../doctor/facts";
import { isProblem } from "../doctor/finding";
import { formatReport } from "../doctor/report";
import { print } from "../lib/output";
import { NAME, VERSION } from "../lib/version";
import { parseOptions } from "./arguments";

const OPTIONS = { json: { type: "boolean" }, cli: { type: "string" } } as const;

/**
 * `claude-code-nvim doctor [--json] [--cli PATH]`: says why a Claude CLI started in the working
 * folder does not connect to Neovim, and how to fix it. PATH is the CLI's program, if it is not the
 * `claude` of $PATH. Exits 1 when something is wrong.
 */
export async function doctor(args: string[]): Promise<number> {
  const options = parseOptions(args, OPTIONS, "doctor [--json] [--cli PATH]");
  const facts = await gatherFacts(process.env, options.cli);
  const findings = runChecks(facts);
  if (options.json) print(`${JSON.stringify({ findings })}\n`);
  else print(`${NAME} ${VERSION} in ${facts.cwd}\n${formatReport(findings)}`);
  return findings.some(isProblem) ? 1 : 0;
}
