import {
  ADD_ARGUMENTS,
  installedServer,
  REMOVE_ARGUMENTS,
  runClaude,
  serverCommand,
} from "../claude/cli";
import { SERVER_NAME } from "../claude/names";
import { UserError } from "../lib/errors";
import type { Plan } from "./step";

const REMOVE = `claude ${REMOVE_ARGUMENTS.join(" ")}`;

/** Adds to the plan that Claude Code starts our MCP server in the project. */
export function addServer(plan: Plan, root: string, claude: string | undefined): void {
  const args = [...ADD_ARGUMENTS, ...serverCommand()];
  const installed = installedServer(root);
  if (installed === "ours") return;
  if (installed === "other") {
    plan.notes.push(
      `Claude Code already has a server ${SERVER_NAME} with another command here, which stays. ` +
        `To replace it, run ${REMOVE}, then this command again.`,
    );
    return;
  }
  addRun(plan, root, claude, args, true);
}

/** Adds to the plan that Claude Code forgets our MCP server. */
export function removeServer(plan: Plan, root: string, claude: string | undefined): void {
  if (installedServer(root) === "ours") addRun(plan, root, claude, REMOVE_ARGUMENTS, false);
}

/** `added`: whether our server is there afterwards. */
function addRun(
  plan: Plan,
  root: string,
  claude: string | undefined,
  args: readonly string[],
  added: boolean,
): void {
  const command = ["claude", ...args].join(" ");
  if (!claude) {
    plan.notes.push(`The Claude CLI is not on $PATH. Once it is, run in ${root}: ${command}`);
    return;
  }
  plan.steps.push({
    what: `run ${command}`,
    async run(record) {
      await runClaudeOrThrow(claude, args, root);
      record.server = added;
    },
  });
}

async function runClaudeOrThrow(
  claude: string,
  args: readonly string[],
  root: string,
): Promise<void> {
  const failure = await runClaude(claude, args, root);
  if (failure) throw new UserError(`${claude} ${args.join(" ")} failed: ${failure}`);
}
