import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../lib/paths";

/** `${CLAUDE_CONFIG_DIR:-~/.claude}`: Claude Code's settings and, below `ide/`, the lock files. */
export function claudeFolder(env: Environment = process.env, home = homedir()): string {
  return env.CLAUDE_CONFIG_DIR || join(home, ".claude");
}

/** Claude Code's own state: `.claude.json` in $CLAUDE_CONFIG_DIR, or else in the home folder. */
export function claudeStateFile(env: Environment = process.env, home = homedir()): string {
  return join(env.CLAUDE_CONFIG_DIR || home, ".claude.json");
}
