import {
  accessSync,
  constants,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
} from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { attempt } from "./errors";

export type Environment = Record<string, string | undefined>;

const NAME = "claude-code.nvim";
/**
 * PATH_MAX of Linux and macOS; the limit of Windows. No file has a longer path, and a long one is costly to look for.
 */
export const MAX_PATH = { posix: 4_096, win32: 32_767 } as const;
export const MAX_PATH_BYTES = MAX_PATH[process.platform === "win32" ? "win32" : "posix"];
/** As many symlinks as Linux follows. */
const MAX_LINKS = 40;

/** Whether `path` is `folder` or lies below it. Both are absolute; a folder may end with a separator. */
export function isBelow(path: string, folder: string): boolean {
  const prefix = folder.endsWith(sep) ? folder : folder + sep;
  return path + sep === prefix || path.startsWith(prefix);
}

/** Relative to `root` where the file lies below it. */
export function shownPath(path: string, root: string): string {
  return isBelow(path, root) && path !== root ? relative(root, path) : path;
}

/** Whether a file, a folder or a symlink, even a dangling one, has this name. False if the system gives an error. */
export function isThere(path: string): boolean {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false })) !== undefined;
}

/** The names in a folder; empty if it is missing, or cannot be read. */
export function namesIn(folder: string): string[] {
  return attempt(() => readdirSync(folder)) ?? [];
}

/** The stats of a path; undefined if it does not exist or cannot be resolved: a loop of links, a name too long. */
export function statOf(path: string): Stats | undefined {
  return attempt(() => statSync(path, { throwIfNoEntry: false }));
}

/** Removes a file. False: it is gone already, or stays. */
export function removeFile(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Removes a folder if it exists and is empty. */
export function removeEmptyFolder(path: string): void {
  attempt(() => rmdirSync(path));
}

/** Those of the paths that lead to files, and when these were changed, in ms: the newest first. */
export function newestFiles(paths: readonly string[]): { path: string; at: number }[] {
  return paths
    .flatMap((path) => {
      const stats = statOf(path);
      return stats?.isFile() ? [{ path, at: stats.mtimeMs }] : [];
    })
    .sort((a, b) => b.at - a.at);
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
 * `path` with symlinks resolved, as far as it exists: a file that is still to be made is placed in the real folder it
 * will stand in, also behind a symlink that leads to it. Lua's `path.real` (editor/documents/) finds the same.
 */
export function realPath(path: string): string {
  let name = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      return realpathSync(name);
    } catch {
      name = resolve(name);
    }
    const { root } = parse(name);
    if (name === root || Buffer.byteLength(name) > MAX_PATH_BYTES) break;
    const parts = name.slice(root.length).split(sep);
    const begin = (count: number) => root + parts.slice(0, count).join(sep);
    // By halves: each look costs a walk through all parts.
    let [there, missing] = [0, parts.length];
    while (missing - there > 1) {
      const middle = (there + missing) >> 1;
      if (statOf(begin(middle))) there = middle;
      else missing = middle;
    }
    const folder = realPath(begin(there));
    const first = join(folder, ...parts.slice(there, missing));
    const behind = parts.slice(missing);
    const link = attempt(() => readlinkSync(first));
    if (link === undefined) return join(first, ...behind);
    name = join(resolve(folder, link), ...behind);
  }
  return name;
}

/**
 * The folder for state that outlives a process: `${XDG_STATE_HOME:-~/.local/state}/claude-code.nvim`, on Windows below
 * %LOCALAPPDATA%.
 */
export function stateFolder(): string {
  if (process.platform === "win32") return join(localAppData(), NAME, "state");
  return join(xdgFolder(process.env.XDG_STATE_HOME, ".local/state"), NAME);
}

/**
 * The one path of the executable that is ever written into a settings file, which upgrades re-point:
 * `${XDG_DATA_HOME:-~/.local/share}/claude-code.nvim/bin/claude-code-nvim`, on Windows below %LOCALAPPDATA%.
 * lua/claude-code/install/store.lua has the same.
 */
export function stablePath(): string {
  const { XDG_DATA_HOME } = process.env;
  if (process.platform === "win32")
    return join(localAppData(), NAME, "bin", "claude-code-nvim.exe");
  return join(xdgFolder(XDG_DATA_HOME, ".local/share"), NAME, "bin", "claude-code-nvim");
}

function localAppData(): string {
  return process.env.LOCALAPPDATA || join(homedir(), "AppData", "Local");
}

/** A relative XDG folder is ignored, as the XDG specification asks. */
function xdgFolder(given: string | undefined, standard: string): string {
  return given && isAbsolute(given) ? given : join(homedir(), standard);
}

/** The folders shared with the remote that this program works for, as a list in JSON. */
export const SHARED_FOLDERS = "CLAUDE_CODE_NVIM_SHARED_FOLDERS";

/**
 * Real paths, as they were passed: a symlink that a remote puts in their place is not followed. Undefined if this
 * program does not work for a remote. Throws if the list is malformed.
 */
export function sharedFolders(): readonly string[] | undefined {
  const given = process.env[SHARED_FOLDERS];
  return given === undefined ? undefined : [...JSON.parse(given)].map(String);
}

/** A folder's real path. Throws if this program works for a remote and the folder is not the one that was passed. */
export function passedFolder(folder: string): string {
  const real = realPath(folder);
  if (real === folder || sharedFolders() === undefined) return real;
  throw new Error(`${folder} is a symlink now, or lies behind one: nothing is done there`);
}

/** Whether the file is private because the remote does not share it. `real`: its real path. */
export function isUnshared(real: string, shared: readonly string[] | undefined): boolean {
  return shared !== undefined && !shared.some((folder) => isBelow(real, folder));
}

/** Changes with a file that is written; as Lua has it (`written_version` in documents/disk.lua); "" for no file. */
export function fileVersion(path: string): string {
  // A file may be where a folder was.
  const stats = statOf(path) && statSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats) return "";
  return [stats.mtimeNs / 1_000_000_000n, stats.mtimeNs % 1_000_000_000n, stats.size].join(":");
}
