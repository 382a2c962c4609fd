import { EditorBusyError } from "../editor/port";
import { type Environment, isBelow } from "../lib/paths";
import { entries } from "../locate/registry";
import { usualSockets, whyUnsafe } from "../locate/socket";
import { NoPluginError, Plugin } from "../neovim/plugin";

/** What the plugin says of itself: `report()` of lua/claude-code/status.lua. */
export interface EditorReport {
  pid: number;
  version: string;
  state: "stopped" | "downloading" | "starting" | "ready" | "failed";
  why?: string;
  stopped_by_user?: boolean;
  last_error?: string;
  lock_file?: string;
  folders: string[];
  clients: { pid?: number }[];
  /** LinkState of src/remote/link.ts, with the remote's name; older plugins report none. */
  remotes?: { name: string; state: string; port?: number; cause?: string; problem?: string }[];
  config_dir?: string;
  /** The options `terminal.permission_mode` and `terminal.args`. */
  permission_mode?: string;
  terminal_args?: string[];
  /** Has the option `terminal.remote` a name? Then the CLI is elsewhere. */
  in_remote?: boolean;
  /** The option `diff.open`. */
  diff_open?: string;
  /** Names of the language servers that serve a buffer, and how many buffers could use one. */
  language_servers: string[];
  source_files: number;
}

/** One Neovim, and what it answered. */
export interface Editor {
  address: string;
  /** It is the one in whose terminal we run. */
  inside: boolean;
  report?: EditorReport;
  /** Why there is no report. */
  problem?: "gone" | "busy" | "no-plugin";
}

const ANSWER_MS = 5_000;

/** Claude Code's rule: the working folder is one of the workspace's, or below one. */
export function covers(folders: readonly string[], cwd: string): boolean {
  return folders.some((folder) => isBelow(cwd, folder));
}

/**
 * The Neovim we run in, if any, and all that are registered; of the others, in which the server does
 * not run, those that have the plugin.
 */
export async function findEditors(env: Environment): Promise<Editor[]> {
  const known = new Set(entries().map((entry) => entry.address));
  if (env.NVIM) known.add(env.NVIM);
  const addresses = [...known.union(new Set(usualSockets(env)))];
  const all = await Promise.all(addresses.map((address) => ask(address, address === env.NVIM)));
  return all.filter(({ address, report }) => report ?? known.has(address));
}

/** Do its findings matter for what runs in `cwd`? */
export function isHere({ inside, report }: Editor, cwd: string): boolean {
  return inside || covers(report?.folders ?? [], cwd);
}

async function ask(address: string, inside: boolean): Promise<Editor> {
  if (whyUnsafe(address)) return { address, inside, problem: "gone" };
  let plugin: Plugin;
  try {
    plugin = await Plugin.connect(address);
  } catch {
    return { address, inside, problem: "gone" };
  }
  try {
    const report = (await plugin.call("report", {}, ANSWER_MS)) as EditorReport;
    return { address, inside, report };
  } catch (error) {
    if (error instanceof NoPluginError) return { address, inside, problem: "no-plugin" };
    if (error instanceof EditorBusyError) return { address, inside, problem: "busy" };
    throw error;
  } finally {
    plugin.close();
  }
}
