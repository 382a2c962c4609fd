import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { claudeVersion, findClaude } from "../claude/cli";
import { claudeFolder, claudeStateFile } from "../claude/config-dir";
import { type SettingsFile, settingsFiles, settingsPaths } from "../claude/settings-files";
import { type Lock, lockFolders, readLocks } from "../ide/lock-file";
import { readJson } from "../lib/json";
import type { Environment } from "../lib/paths";
import type { Lookup } from "../lib/programs";
import { type Editor, findEditors } from "./editors";

/** All that the checks look at, gathered once: they themselves touch nothing but files it names. */
export interface Facts {
  env: Environment;
  /** Symbolic links resolved, as Claude Code has it. */
  cwd: string;
  /** Settings files that apply here, the strongest first. */
  settings: SettingsFile[];
  /** Claude Code's own state. */
  state: SettingsFile;
  /** The folders in which a Claude CLI with this environment looks for editors. */
  lockFolders: string[];
  locks: Lock[];
  editors: Editor[];
  /** The Claude CLI that a shell with this environment starts, and its version if it runs. */
  cli: Lookup;
  cliVersion: string | undefined;
}

/** `cliPath`: the CLI to look at instead of the one that the shell would start. */
export async function gatherFacts(env: Environment, cliPath?: string): Promise<Facts> {
  const home = homedir();
  const cwd = realpathSync(process.cwd());
  const folders = lockFolders(env, home);
  const cli = cliPath === undefined ? findClaude(env, home) : { path: cliPath };
  const [editors, cliVersion, locks] = await Promise.all([
    findEditors(env),
    cli.path === undefined ? undefined : claudeVersion(cli.path),
    Promise.all(folders.flatMap((folder) => readLocks(folder)).map(withLife)),
  ]);
  const settings = settingsFiles(settingsPaths(cwd, claudeFolder(env, home)));
  const path = claudeStateFile(env, home);
  const state = { path, content: readJson(path) ?? {} };
  return { env, cwd, settings, state, lockFolders: folders, locks, editors, cli, cliVersion };
}

/** A lock file without a process is alive if its port answers, as for the CLI. */
async function withLife(lock: Lock): Promise<Lock> {
  if (!lock.alive || lock.pid !== undefined) return lock;
  const connecting = Bun.connect({
    hostname: "127.0.0.1",
    port: lock.port,
    socket: { data() {}, open: (socket) => socket.terminate() },
  });
  const alive = await connecting.then(
    () => true,
    () => false,
  );
  return { ...lock, alive };
}
