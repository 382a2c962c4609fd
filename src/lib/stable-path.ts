import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";

/**
 * The one path of the executable that is ever written into a settings file, which upgrades
 * re-point: `${XDG_DATA_HOME:-~/.local/share}/claude-code.nvim/bin/claude-code-nvim`, on Windows
 * below %LOCALAPPDATA%. Lua's `binary.managed_path()` is the same.
 */
export function stablePath(env: Record<string, string | undefined> = process.env): string {
  if (process.platform === "win32") {
    const base = env.LOCALAPPDATA || join(homedir(), "AppData", "Local");
    return join(base, "claude-code.nvim", "bin", "claude-code-nvim.exe");
  }
  const given = env.XDG_DATA_HOME;
  const base = given && isAbsolute(given) ? given : join(homedir(), ".local", "share");
  return join(base, "claude-code.nvim", "bin", "claude-code-nvim");
}

/**
 * Makes the stable path lead to the executable that runs, where it leads nowhere yet. What a download
 * has put there stays. Throws the system's error.
 */
export function ensureStablePath(path = stablePath()): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  symlinkSync(lastingName(process.execPath), draft);
  renameSync(draft, path);
}

/**
 * The name on $PATH that leads to the executable, if there is one: a package manager keeps that, and
 * removes the folder of the version that is run now.
 */
function lastingName(executable: string): string {
  const real = realpathSync(executable);
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  const names = folders.map((folder) => join(folder, basename(executable)));
  return names.find((name) => existsSync(name) && realpathSync(name) === real) ?? executable;
}
