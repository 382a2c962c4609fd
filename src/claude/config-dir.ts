import { homedir } from "node:os";
import { type Environment, namesIn, newestFiles } from "../lib/paths";
import { join } from "../lib/platform";

/** `${CLAUDE_CONFIG_DIR:-~/.claude}` holds Claude Code's settings and, below `ide/`, the lock files. */
export function claudeFolder(env: Environment = process.env, home = homedir()): string {
  return env.CLAUDE_CONFIG_DIR || join(home, ".claude");
}

/** Holds a folder of conversations for each project. */
export function conversationsFolder(): string {
  return join(claudeFolder(), "projects");
}

/** The CLI's name for a project's folder of conversations (2.1.330). Several projects may share one. */
export function conversationsOf(project: string): string {
  return project.replaceAll(/[^a-zA-Z0-9]/g, "-");
}

const ID = /^[\w-]+$/;

/**
 * The file in which the CLI writes the conversation of a session, or of one of its subagents (measured with 2.1.330).
 * Undefined before the first entry.
 */
export function transcriptOf(session: string, agent?: string): string | undefined {
  if (!ID.test(session) || (agent !== undefined && !ID.test(agent))) return undefined;
  const name =
    agent === undefined ? `${session}.jsonl` : join(session, "subagents", `agent-${agent}.jsonl`);
  const root = conversationsFolder();
  // Another work tree may have an older file of a session that was resumed.
  return newestFiles(namesIn(root).map((folder) => join(root, folder, name)))[0]?.path;
}

/** Claude Code keeps its state in `.claude.json`, in $CLAUDE_CONFIG_DIR or else in the home folder. */
export function claudeStateFile(env: Environment = process.env, home = homedir()): string {
  return join(env.CLAUDE_CONFIG_DIR || home, ".claude.json");
}
