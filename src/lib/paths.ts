import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, sep } from "node:path";

export type Environment = Record<string, string | undefined>;

const NAME = "claude-code.nvim";

/** Whether `path` is `folder` or lies below it. Both are absolute; a folder may end with a separator. */
export function isBelow(path: string, folder: string): boolean {
  const prefix = folder.endsWith(sep) ? folder : folder + sep;
  return path + sep === prefix || path.startsWith(prefix);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * `path` with symlinks resolved, as far as it exists: a file that is still to be made is placed in
 * the real folder it will stand in.
 */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPath(folder), basename(path));
  }
}

/**
 * What outlives a process: `${XDG_STATE_HOME:-~/.local/state}/claude-code.nvim`, on Windows below
 * %LOCALAPPDATA%.
 */
export function stateFolder(env: Environment = process.env): string {
  if (process.platform === "win32") return join(localAppData(env), NAME, "state");
  return join(xdgFolder(env.XDG_STATE_HOME, ".local/state"), NAME);
}

/**
 * The one path of the executable that is ever written into a settings file, which upgrades
 * re-point: `${XDG_DATA_HOME:-~/.local/share}/claude-code.nvim/bin/claude-code-nvim`, on Windows
 * below %LOCALAPPDATA%. Lua's `managed_path()` (install/) is the same.
 */
export function stablePath(env: Environment = process.env): string {
  if (process.platform === "win32") {
    return join(localAppData(env), NAME, "bin", "claude-code-nvim.exe");
  }
  return join(xdgFolder(env.XDG_DATA_HOME, ".local/share"), NAME, "bin", "claude-code-nvim");
}

function localAppData(env: Environment): string {
  return env.LOCALAPPDATA || join(homedir(), "AppData", "Local");
}

/** A relative XDG folder is ignored, as the XDG specification asks. */
function xdgFolder(given: string | undefined, standard: string): string {
  return given && isAbsolute(given) ? given : join(homedir(), standard);
}
