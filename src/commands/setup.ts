import { parseArgs } from "node:util";
import { carryOut, type Plan } from "../setup/plan";
import { projectRoot } from "../setup/project-root";
import { readRecord } from "../setup/record";
import { SettingsError } from "../setup/settings-error";

/** The command line that setting up and taking back have in common. */
export interface SettingsArguments {
  root: string;
  yes: boolean;
  dryRun: boolean;
  once: boolean;
  claudeMd: boolean;
  claude: string | undefined;
}

const OPTIONS = {
  project: { type: "string" },
  claude: { type: "string" },
  yes: { type: "boolean", short: "y" },
  "dry-run": { type: "boolean" },
  once: { type: "boolean" },
  "claude-md": { type: "boolean" },
} as const;

/** Throws SettingsError. */
export function parseSettingsArguments(args: string[]): SettingsArguments {
  try {
    const { values } = parseArgs({ args, options: OPTIONS });
    return {
      root: projectRoot(values.project ?? process.cwd()),
      yes: values.yes === true,
      dryRun: values["dry-run"] === true,
      once: values.once === true,
      claudeMd: values["claude-md"] === true,
      claude: values.claude,
    };
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Shows a plan, asks unless told not to, and carries it out. Returns the exit code: 0 done or nothing
 * to do, 1 failed or declined.
 */
export async function converse(
  args: string[],
  makePlan: (given: SettingsArguments) => Plan,
  active: boolean,
): Promise<number> {
  try {
    const given = parseSettingsArguments(args);
    if (given.once && readRecord(given.root)) return 0;
    const plan = makePlan(given);
    say(describe(plan, given.root, active));
    if (plan.steps.length === 0 || given.dryRun) return 0;
    if (!given.yes && !consents()) return 1;
    await carryOut(plan, given.root, active);
    say(active ? "Done. It counts for Claude sessions from now on." : "Done.");
    return 0;
  } catch (error) {
    const isSystemError = error instanceof Error && "syscall" in error;
    if (!(error instanceof SettingsError) && !isSystemError) throw error;
    process.stderr.write(`claude-code-nvim: ${(error as Error).message}\n`);
    return 1;
  }
}

function describe({ steps, notes }: Plan, root: string, active: boolean): string {
  const done = active ? "everything is in place already." : "there is nothing to take back.";
  const head = steps.length === 0 ? `In ${root} ${done}` : `In ${root}:`;
  return [head, ...steps.map(({ what }) => `  ${what}`), ...notes].join("\n");
}

function consents(): boolean {
  if (!process.stdin.isTTY) {
    say("Nothing was changed. With --yes this is done without asking.");
    return false;
  }
  return /^y(es)?$/i.test(prompt("Do this? [y/N]") ?? "");
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
