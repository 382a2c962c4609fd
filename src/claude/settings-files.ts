import { gitTop } from "../lib/git-folder";
import { type JsonObject, parseObject, readJson } from "../lib/json";
import { namesIn, statOf } from "../lib/paths";
import { join, SYSTEM } from "../lib/platform";
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
  /** The CLI would refuse to start with the plugin. */
  forbids_plugin?: true;
}

export function folderSetup(folder: string): FolderSetup {
  const off = hooksOff(folder);
  return {
    folder,
    ...(off !== undefined && { off }),
    ...(off?.startsWith(NO_PLUGIN) && { forbids_plugin: true }),
  };
}

/** Settings that switch hooks off, the last two only if they are the organization's (measured with 2.1.332). */
const NO_PLUGIN = "disableSideloadFlags";
const OFF = ["disableAllHooks", "allowManagedHooksOnly", NO_PLUGIN];

/** Names the file and the setting that switch hooks off for a CLI that starts in `cwd`. */
export function hooksOff(cwd: string): string | undefined {
  const user = join(claudeFolder(), "settings.json");
  const managed = managedSettings();
  for (const top of topsOf(cwd)) {
    for (const path of [...managed, ...projectSettings(top), user]) {
      const text = readText(path, MAX_BYTES);
      if (text === undefined && statOf(path))
        return `${path} cannot be read, and may switch off Claude's hooks`;
      const content = parseObject(text) ?? {};
      const names = managed.includes(path) ? OFF.toReversed() : OFF.slice(0, 1);
      const name = names.find((name) => content[name] === true);
      if (name !== undefined) return `${name} is true in ${path}`;
      if (content.disableAllHooks === false) break;
    }
  }
  return undefined;
}

const MANAGED = {
  linux: "/etc/claude-code",
  darwin: "/Library/Application Support/ClaudeCode",
  win32: "C:/Program Files/ClaudeCode",
};

/** The organization's settings files. The first has the highest priority. */
function managedSettings(): string[] {
  const folder = MANAGED[SYSTEM];
  const parts = join(folder, "managed-settings.d");
  const names = namesIn(parts).filter((name) => name.endsWith(".json"));
  const added = names.sort().toReversed();
  return [...added.map((name) => join(parts, name)), join(folder, "managed-settings.json")];
}
