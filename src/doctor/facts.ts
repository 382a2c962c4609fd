import { homedir } from "node:os";
import { claudeVersion, findClaude } from "../claude/cli";
import { claudeFolder, claudeStateFile } from "../claude/config-dir";
import { type SettingsFile, settingsFiles, settingsPaths } from "../claude/settings-files";
import { type Lock, lockFolders, readLocks } from "../ide/lock-file";
import { failureCode } from "../lib/errors";
import { readJson } from "../lib/json";
import { type Environment, isBelow, realPath } from "../lib/paths";
import type { Lookup } from "../lib/programs";
import { whyUnsafe } from "../locate/find";
import { entries } from "../locate/registry";
import { Plugin } from "../neovim/plugin";
import type { Finding } from "./finding";

/** The input of all checks. The checks read only files that it names. */
export interface Facts {
  env: Environment;
  /** The real path, as in Claude Code. */
  cwd: string;
  /** The settings files that apply here. The first has the highest priority. */
  settings: SettingsFile[];
  state: SettingsFile;
  /** A Claude CLI with this environment looks for lock files in these folders. */
  lockFolders: string[];
  locks: Lock[];
  editors: Editor[];
  /** The Claude CLI that the Neovim around us starts, or else the one on $PATH. */
  cli: Lookup;
  cliVersion: string | undefined;
}

export async function gatherFacts(env: Environment): Promise<Facts> {
  const home = homedir();
  const cwd = realPath(process.cwd());
  const folders = lockFolders(env, home);
  const [editors, locks] = await Promise.all([
    findEditors(env),
    Promise.all(folders.flatMap((folder) => readLocks(folder)).map(withLife)),
  ]);
  const cli = editors.find(({ inside }) => inside)?.report?.cli ?? findClaude(env, home);
  const cliVersion = cli.path === undefined ? undefined : await claudeVersion(cli.path);
  const settings = settingsFiles(settingsPaths(cwd, claudeFolder(env, home)));
  const path = claudeStateFile(env, home);
  const state = { path, content: readJson(path) ?? {} };
  return { env, cwd, settings, state, lockFolders: folders, locks, editors, cli, cliVersion };
}

/** A lock file without a process id is alive if its port answers. That is the CLI's rule. */
async function withLife(lock: Lock): Promise<Lock> {
  if (!lock.alive || lock.pid !== undefined) return lock;
  const socket = { data() {}, open: (one: Bun.Socket) => one.terminate() };
  const connected = Bun.connect({ hostname: "127.0.0.1", port: lock.port, socket });
  return { ...lock, alive: (await connected.catch(() => undefined)) !== undefined };
}

/** The plugin's report on itself, from `report()` in lua/claude-code/health.lua. */
export interface EditorReport {
  pid: number;
  /** "ready", or another state of the server, which the plugin's findings explain. */
  state: string;
  lock_file?: string;
  folders: string[];
  findings: Finding[];
  config_dir?: string;
  /** The program of the option `terminal.command`, unless that is `claude`. */
  cli?: Lookup;
  /** The option `terminal.permission_mode`. */
  permission_mode?: string;
  /** The option `terminal.remote` has a name, so the CLI runs in a remote. */
  in_remote?: boolean;
  /** The option `diff.open`. */
  diff_open?: string;
}

/** One running Neovim. */
export interface Editor {
  address: string;
  /** We run in its terminal. */
  inside: boolean;
  report?: EditorReport;
  /** Why there is no report. */
  problem?: "busy" | "no-plugin";
}

const ANSWER_MS = 5_000;

/** Claude Code's rule: the working folder must be in a folder of the workspace. */
export function covers(folders: readonly string[], cwd: string): boolean {
  return folders.some((folder) => isBelow(cwd, folder));
}

/** A Neovim that does not answer may be serving, too. */
export function isServing({ report }: Editor): boolean {
  return report === undefined || report.state === "ready";
}

/** The Neovim around us, or else those that may have the folder open. */
export function editorsHere(editors: readonly Editor[], cwd: string): readonly Editor[] {
  const inside = editors.filter((editor) => editor.inside);
  if (inside.length > 0) return inside;
  return editors.filter(({ report }) => !report || covers(report.folders, cwd));
}

/** The Neovim around us, and all in which the server runs. */
async function findEditors(env: Environment): Promise<Editor[]> {
  const addresses = new Set(entries().map((entry) => entry.address));
  if (env.NVIM) addresses.add(env.NVIM);
  const asked = [...addresses].map((address) => ask(address, address === env.NVIM));
  return (await Promise.all(asked)).filter((editor) => editor !== undefined);
}

/** Undefined if the process has ended. */
async function ask(address: string, inside: boolean): Promise<Editor | undefined> {
  if (whyUnsafe(address)) return undefined;
  const plugin = await Plugin.connect(address).catch(() => undefined);
  if (!plugin) return undefined;
  try {
    const report = (await plugin.call("report", {}, ANSWER_MS)) as EditorReport;
    return { address, inside, report };
  } catch (error) {
    const code = failureCode(error);
    if (code === "no_plugin") return { address, inside, problem: "no-plugin" };
    if (code === "busy") return { address, inside, problem: "busy" };
    throw error;
  } finally {
    plugin.close();
  }
}
