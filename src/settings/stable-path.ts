import { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/**
 * The one path of the executable that is ever written into a settings file, which upgrades
 * re-point: `${XDG_DATA_HOME:-~/.local/share}/claude-code.nvim/bin/claude-code-nvim`, on Windows
 * below %LOCALAPPDATA%. Lua's `binary.managed_path()` is the same.
 */
export function stablePath(env: Record<string, string | undefined> = process.env): string {
  if (process.platform === "win32") {
    const base = env["LOCALAPPDATA"] || join(homedir(), "AppData", "Local");
    return join(base, "claude-code.nvim", "bin", "claude-code-nvim.exe");
  }
  const given = env["XDG_DATA_HOME"];
  const base = given && isAbsolute(given) ? given : join(homedir(), ".local", "share");
  return join(base, "claude-code.nvim", "bin", "claude-code-nvim");
}

/**
 * Makes the stable path lead to `executable` where nothing is there yet. What a download has put
 * there stays. Throws the system's error.
 */
export function ensureStablePath(executable = process.execPath, path = stablePath()): void {
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  symlinkSync(executable, draft);
  renameSync(draft, path);
}
