import { EditorBusyError } from "../editor/port";
import { type Environment, isBelow } from "../lib/paths";
import { entries } from "../locate/registry";
import { usualSockets, whyUnsafe } from "../locate/socket";
import { NoPluginError, Plugin } from "../neovim/plugin";
import type { Finding } from "./finding";

/** What the plugin says of itself: `report()` of lua/claude-code/status.lua. */
export interface EditorReport {
  pid: number;
  version: string;
  /** "ready" or why its server serves nobody: a finding of its own says more. */
  state: string;
  lock_file?: string;
  folders: string[];
  findings: Finding[];
  config_dir?: string;
  /** The options `terminal.permission_mode` and `terminal.args`. */
  permission_mode?: string;
  terminal_args?: string[];
  /** Has the option `terminal.remote` a name? Then the CLI is elsewhere. */
  in_remote?: boolean;
  /** The option `diff.open`. */
  diff_open?: string;
}

/** One Neovim that runs, and what it answered. */
export interface Editor {
  address: string;
  /** It is the one in whose terminal we run. */
  inside: boolean;
  report?: EditorReport;
  /** Why there is no report. */
  problem?: "busy" | "no-plugin";
}

const ANSWER_MS = 5_000;

/** Claude Code's rule: the working folder is one of the workspace's, or below one. */
export function covers(folders: readonly string[], cwd: string): boolean {
  return folders.some((folder) => isBelow(cwd, folder));
}

/** One that does not answer may. */
export function isServing({ report }: Editor): boolean {
  return report === undefined || report.state === "ready";
}

/**
 * Those of which something matters in `cwd`: the one we run in, or else those that may have the folder open.
 * Beside one that serves, another in which the server does not run is no reason to doubt.
 */
export function editorsHere(editors: readonly Editor[], cwd: string): readonly Editor[] {
  const inside = editors.filter((editor) => editor.inside);
  if (inside.length > 0) return inside;
  const near = editors.filter(({ report }) => !report || covers(report.folders, cwd));
  const serving = near.filter(isServing);
  return serving.length > 0 ? serving : near;
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
  return all
    .filter((editor) => editor !== undefined)
    .filter(({ address, report }) => report ?? known.has(address));
}

/** Undefined for one that is gone. */
async function ask(address: string, inside: boolean): Promise<Editor | undefined> {
  if (whyUnsafe(address)) return undefined;
  const plugin = await Plugin.connect(address).catch(() => undefined);
  if (!plugin) return undefined;
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
