import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

const NAME = "claude-code.nvim";

/**
 * Where we keep what outlives a process: `${XDG_STATE_HOME:-~/.local/state}/claude-code.nvim`,
 * on Windows below %LOCALAPPDATA%. A relative XDG folder is ignored, as its specification asks.
 */
export function stateFolder(env: Record<string, string | undefined> = process.env): string {
  if (process.platform === "win32") {
    return join(env.LOCALAPPDATA || join(homedir(), "AppData", "Local"), NAME, "state");
  }
  const given = env.XDG_STATE_HOME;
  const base = given && isAbsolute(given) ? given : join(homedir(), ".local", "state");
  return join(base, NAME);
}
