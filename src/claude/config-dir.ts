import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../lib/paths";

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

/** Claude Code's own state: `.claude.json` in $CLAUDE_CONFIG_DIR, or else in the home folder. */
export function claudeStateFile(env: Environment = process.env, home = homedir()): string {
  return join(env.CLAUDE_CONFIG_DIR || home, ".claude.json");
}
