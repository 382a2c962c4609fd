import { ADD_ARGUMENTS, installedServer, REMOVE_ARGUMENTS, runClaude } from "../claude/cli";
import { commandWords } from "../claude/command";
import { SERVER_NAME } from "../claude/names";
import { UserError } from "../lib/errors";
import type { Lookup } from "../lib/programs";
import type { Plan } from "./step";

const REMOVE = `claude ${REMOVE_ARGUMENTS.join(" ")}`;

/** Adds to the plan that Claude Code starts our MCP server in the project. */
export function addServer(plan: Plan, root: string, claude: Lookup): void {
  const args = [...ADD_ARGUMENTS, ...commandWords(["mcp"])];
  const installed = installedServer(root);
  if (installed === "ours") return;
  if (installed === "other") {
    plan.notes.push(
      `Claude Code already has a server ${SERVER_NAME} with another command here, which stays. ` +
        `To replace it, run ${REMOVE}, then this command again.`,
    );
    return;
  }
  addRun(plan, root, claude, args);
}

/** Adds to the plan that Claude Code forgets our MCP server. */
export function removeServer(plan: Plan, root: string, claude: Lookup): void {
  if (installedServer(root) === "ours") addRun(plan, root, claude, REMOVE_ARGUMENTS);
}

function addRun(plan: Plan, root: string, claude: Lookup, args: readonly string[]): void {
  const command = ["claude", ...args].join(" ");
  const { path } = claude;
  if (path === undefined) {
    plan.notes.push(`The Claude CLI: ${claude.why}. Once it is found, run in ${root}: ${command}`);
    return;
  }
  plan.steps.push({
    what: `run ${command}`,
    async run() {
      const failure = await runClaude(path, args, root);
      if (failure) throw new UserError(`${path} ${args.join(" ")} failed: ${failure}`);
    },
  });
}
