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
import { attempt } from "./errors";
import {
  IS_WINDOWS,
  isAbsolute,
  join,
  normal,
  type Paths,
  pathsOf,
  relative,
  SYSTEM,
} from "./platform";

export type Environment = Record<string, string | undefined>;

const NAME = "claude-code.nvim";
/** PATH_MAX of Linux and macOS, and the limit of Windows. No file has a longer path; looking for it is expensive. */
export const MAX_PATH = { posix: 4_096, win32: 32_767 } as const;
export const MAX_PATH_BYTES = MAX_PATH[IS_WINDOWS ? "win32" : "posix"];
/** The limit of Linux. */
const MAX_LINKS = 40;

/** True if `path` is `folder` or below it. Both are absolute. The folder may end with a separator. */
export function isBelow(path: string, folder: string): boolean {
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  return `${path}/` === prefix || path.startsWith(prefix);
}

/** The path relative to `root`, if it is below that. */
export function shownPath(path: string, root: string): string {
  return isBelow(path, root) && path !== root ? relative(root, path) : path;
}

/** True if there is a file, a folder or a symlink, even a broken one. False if the system reports an error. */
export function isThere(path: string): boolean {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false })) !== undefined;
}

/** Empty if the folder is missing or cannot be read. */
export function namesIn(folder: string): string[] {
  return attempt(() => readdirSync(folder)) ?? [];
}

/** Undefined if the path does not exist or cannot be resolved. */
export function statOf(path: string): Stats | undefined {
  return attempt(() => statSync(path, { throwIfNoEntry: false }));
}

/** True if both paths lead to one file, through symlinks or as hard links. */
export function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => attempt(() => statSync(path, { bigint: true })));
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}

/** Returns false if the file did not exist, or could not be removed. */
export function removeFile(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

export function removeEmptyFolder(path: string): void {
  attempt(() => rmdirSync(path));
}

/** The paths that lead to files, with their times of change in ms, newest first. */
export function newestFiles(paths: readonly string[]): { path: string; at: number }[] {
  return paths
    .flatMap((path) => {
      const stats = statOf(path);
      return stats?.isFile() ? [{ path, at: stats.mtimeMs }] : [];
    })
    .sort((a, b) => b.at - a.at);
}

export function isExecutable(path: string): boolean {
  const isRegular = () => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  };
  return attempt(isRegular) ?? false;
}

/** A disk, as `realPath` sees it. */
export interface Disk {
  readonly paths: Paths;
  /**
   * The path without symlinks, as the disk spells it. Throws if there is no file, and perhaps if there is no access.
   */
  real(path: string): string;
  exists(path: string): boolean;
  /** Undefined unless the path is that of a symlink. */
  target(path: string): string | undefined;
}

const OWN_DISK: Disk = {
  paths: pathsOf(SYSTEM),
  real: realSpelling,
  exists: (path) => statOf(path) !== undefined,
  target: (path) => attempt(() => readlinkSync(path)),
};

/**
 * Resolves symlinks in `path`, even if the file does not exist yet: then the result is where creating it would put it.
 * Lua's `path.real` (editor/documents/) gives the same result.
 */
export function realPath(path: string): string {
  return realPathOn(OWN_DISK, path);
}

export function realPathOn(disk: Disk, path: string): string {
  const { join, parse, resolve } = disk.paths;
  let name = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      return disk.real(name);
    } catch {
      name = resolve(name);
    }
    const { root } = parse(name);
    if (name === root || Buffer.byteLength(name) > MAX_PATH_BYTES) break;
    const parts = name.slice(root.length).split("/");
    const begin = (count: number) => root + parts.slice(0, count).join("/");
    // Bisect, since each look makes the system walk through all parts.
    let [there, missing] = [0, parts.length];
    while (missing - there > 1) {
      const middle = (there + missing) >> 1;
      if (disk.exists(begin(middle))) there = middle;
      else missing = middle;
    }
    const folder = realPathOn(disk, begin(there));
    const first = join(folder, ...parts.slice(there, missing));
    const behind = parts.slice(missing);
    const link = disk.target(first);
    if (link === undefined) return join(first, ...behind);
    name = join(resolve(folder, link), ...behind);
  }
  return name;
}

function realSpelling(path: string): string {
  // On Windows the other function keeps upper and lower case as they were written.
  if (IS_WINDOWS) return normal(realpathSync.native(path));
  // Bun opens the file there, and a FIFO would wait for its writer.
  if (SYSTEM === "darwin" && statOf(path)?.isFIFO()) throw new Error("a FIFO");
  return realpathSync(path);
}

/** `${XDG_STATE_HOME:-~/.local/state}/claude-code.nvim`, or a folder below %LOCALAPPDATA% on Windows. */
export function stateFolder(): string {
  if (IS_WINDOWS) return join(localAppData(), NAME, "state");
  return join(xdgFolder(process.env.XDG_STATE_HOME, ".local/state"), NAME);
}

/**
 * The only path of the executable that we write into settings files. Upgrades replace the file there. It is
 * `${XDG_DATA_HOME:-~/.local/share}/claude-code.nvim/bin/claude-code-nvim`, on Windows a path below %LOCALAPPDATA%.
 * lua/claude-code/install/store.lua has the same.
 */
export function stablePath(): string {
  const { XDG_DATA_HOME } = process.env;
  if (IS_WINDOWS) return join(localAppData(), NAME, "bin", "claude-code-nvim.exe");
  return join(xdgFolder(XDG_DATA_HOME, ".local/share"), NAME, "bin", "claude-code-nvim");
}

function localAppData(): string {
  return process.env.LOCALAPPDATA || join(homedir(), "AppData", "Local");
}

/** The XDG specification requires us to ignore relative folders. */
function xdgFolder(given: string | undefined, standard: string): string {
  return given && isAbsolute(given) ? given : join(homedir(), standard);
}

/** If we work for a remote, this variable has a JSON list of the folders that we share with it. */
export const SHARED_FOLDERS = "CLAUDE_CODE_NVIM_SHARED_FOLDERS";

/**
 * The folders that we share with the remote for which we work; undefined if there is no remote. They are real paths: we
 * do not follow a symlink that replaces one later. Throws if the list is malformed.
 */
export function sharedFolders(): readonly string[] | undefined {
  const given = process.env[SHARED_FOLDERS];
  return given === undefined ? undefined : [...JSON.parse(given)].map(String);
}

/** A folder's real path. Throws if we work for a remote and the path has become a symlink. */
export function passedFolder(folder: string): string {
  const real = realPath(folder);
  if (real === folder || sharedFolders() === undefined) return real;
  throw new Error(`${folder} is a symlink now, or is behind one: nothing was done there`);
}

/** True if we work for a remote that does not share the file with the real path `real`. */
export function isUnshared(real: string, shared: readonly string[] | undefined): boolean {
  return shared !== undefined && !shared.some((folder) => isBelow(real, folder));
}

/** A text that changes with the file; "" without a file. Lua has the same: `written_version` in documents/disk.lua. */
export function fileVersion(path: string): string {
  // `statOf` also covers a path through a file, for which stat throws.
  const stats = statOf(path) && statSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats) return "";
  return [stats.mtimeNs / 1_000_000_000n, stats.mtimeNs % 1_000_000_000n, stats.size].join(":");
}
