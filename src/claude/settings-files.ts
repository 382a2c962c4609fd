import { gitTop } from "../lib/git-folder";
import { type JsonObject, parseObject, readJson } from "../lib/json";
import { statOf } from "../lib/paths";
import { join } from "../lib/platform";
import { readText } from "../lib/read-regular";
import { claudeFolder } from "./config-dir";

/** We do not read larger settings files. */
const MAX_BYTES = 1024 * 1024;

/** One of Claude Code's settings files that exists and is JSON. */
export interface SettingsFile {
  path: string;
  content: JsonObject;
}

/** The settings files that apply in `cwd`. The first has the highest priority. */
export function settingsPaths(cwd: string, configFolder: string): string[] {
  return [...topsOf(cwd).flatMap(projectSettings), join(configFolder, "settings.json")];
}

/** The CLI reads the settings of the folder and of its repository's top, not those of folders between (2.1.330). */
function topsOf(cwd: string): string[] {
  return [...new Set([cwd, gitTop(cwd) ?? cwd])];
}

function projectSettings(top: string): string[] {
  const folder = join(top, ".claude");
  return [join(folder, "settings.local.json"), join(folder, "settings.json")];
}

export function settingsFiles(paths: readonly string[]): SettingsFile[] {
  return paths.flatMap((path) => {
    const content = readJson(path);
    return content ? [{ path, content }] : [];
  });
}

/** The settings that apply to a CLI that starts in a folder: `claude-code.FolderSetup` in Lua. */
export interface FolderSetup {
  folder: string;
  /** The file and the setting that switch hooks off. */
  off?: string;
}

export function folderSetup(folder: string): FolderSetup {
  const off = hooksOff(folder);
  return { folder, ...(off !== undefined && { off }) };
}

/** Names the file and the setting that switch hooks off for a CLI that starts in `cwd`. */
export function hooksOff(cwd: string): string | undefined {
  const user = join(claudeFolder(), "settings.json");
  for (const top of topsOf(cwd)) {
    for (const path of [...projectSettings(top), user]) {
      const text = readText(path, MAX_BYTES);
      if (text === undefined && statOf(path))
        return `${path} cannot be read, and may switch off Claude's hooks`;
      const isOff = parseObject(text)?.disableAllHooks;
      if (isOff === true) return `disableAllHooks is true in ${path}`;
      if (isOff === false) break;
    }
  }
  return undefined;
}
