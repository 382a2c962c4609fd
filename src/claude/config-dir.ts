import { homedir } from "node:os";
import { join } from "node:path";
import { type Environment, namesIn, newestFiles } from "../lib/paths";

/** `${CLAUDE_CONFIG_DIR:-~/.claude}`: Claude Code's settings and, below `ide/`, the lock files. */
export function claudeFolder(env: Environment = process.env, home = homedir()): string {
  return env.CLAUDE_CONFIG_DIR || join(home, ".claude");
}

/** The conversations of all projects, a folder for each. */
export function conversationsFolder(): string {
  return join(claudeFolder(), "projects");
}

/** As the CLI names the folder there of a project (2.1.330); several paths may share one. */
export function conversationsOf(project: string): string {
  return project.replaceAll(/[^a-zA-Z0-9]/g, "-");
}

const ID = /^[\w-]+$/;

/**
 * The file in which the CLI writes a session's conversation, or that of one of its subagents: `projects/*` in
 * Claude Code's folder (measured with 2.1.330). Undefined before the first entry.
 */
export function transcriptOf(session: string, agent?: string): string | undefined {
  if (!ID.test(session) || (agent !== undefined && !ID.test(agent))) return undefined;
  const name =
    agent === undefined ? `${session}.jsonl` : join(session, "subagents", `agent-${agent}.jsonl`);
  const root = conversationsFolder();
  // Another work tree may have an older one of a resumed session.
  return newestFiles(namesIn(root).map((folder) => join(root, folder, name)))[0]?.path;
}

/** Claude Code's own state: `.claude.json` in $CLAUDE_CONFIG_DIR, or else in the home folder. */
export function claudeStateFile(env: Environment = process.env, home = homedir()): string {
  return join(env.CLAUDE_CONFIG_DIR || home, ".claude.json");
}
