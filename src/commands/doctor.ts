import { runChecks } from "../doctor";
import { gatherFacts } from "../doctor/facts";
import { type Finding, isProblem } from "../doctor/finding";
import { print } from "../lib/output";
import { NAME, VERSION } from "../lib/version";
import { parseOptions } from "./arguments";

const OPTIONS = { json: { type: "boolean" } } as const;

const LABELS = { ok: "ok    ", note: "note  ", warning: "WARN  ", error: "FAIL  " } as const;
const INDENT = " ".repeat(6);

/**
 * `claude-code-nvim doctor [--json]` says why a Claude CLI started in the working folder does not connect to Neovim,
 * and how to fix it. Exits with 1 if something is wrong.
 */
export async function doctor(args: string[]): Promise<number> {
  const options = parseOptions(args, OPTIONS, "doctor [--json]");
  const facts = await gatherFacts(process.env);
  const findings = runChecks(facts);
  if (options.json) print(`${JSON.stringify({ findings })}\n`);
  else print(`${[`${NAME} ${VERSION} in ${facts.cwd}`, ...findings.flatMap(shown)].join("\n")}\n`);
  return findings.some(isProblem) ? 1 : 0;
}

function shown({ level, what, remedy }: Finding): string[] {
  const line = LABELS[level] + what;
  return remedy ? [line, `${INDENT}to fix it, ${remedy}`] : [line];
}
