import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { claudeFolder } from "../claude/config-dir";
import { type Cli, findCli } from "./cli";
import { type Editor, findEditors } from "./editors";
import { type Lock, readLocks } from "./locks";
import { type RunningCli, runningClis } from "./running-clis";

export type Environment = Record<string, string | undefined>;

/** All that the checks look at, gathered once: they themselves touch nothing but files it names. */
export interface Surroundings {
  env: Environment;
  home: string;
  /** Symbolic links resolved, as Claude Code has it. */
  cwd: string;
  /** Where Claude Code keeps its settings. */
  configFolder: string;
  /** The folders in which a Claude CLI with this environment looks for editors. */
  lockFolders: string[];
  locks: Lock[];
  editors: Editor[];
  cli: Cli | undefined;
  /** Claude CLIs of this user that run now; empty where the system does not tell. */
  running: RunningCli[];
}

/** `cliPath`: the CLI to look at instead of the one that the shell would start. */
export async function gather(env: Environment, cliPath?: string): Promise<Surroundings> {
  const home = homedir();
  const lockFolders = lockFoldersOf(env, home);
  const [editors, cli] = await Promise.all([findEditors(env), findCli(env, home, cliPath)]);
  return {
    env,
    home,
    cwd: realpathSync(process.cwd()),
    configFolder: claudeFolder(env, home),
    lockFolders,
    locks: readLocks(lockFolders),
    editors,
    cli,
    running: runningClis(),
  };
}

/** With CLAUDE_CONFIG_DIR set it looks in both folders (measured with Claude Code 2.1.330). */
export function lockFoldersOf(env: Environment, home: string): string[] {
  const folders = [claudeFolder(env, home), claudeFolder({}, home)];
  return [...new Set(folders)].map((folder) => join(folder, "ide"));
}
