import { existsSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject, parseObject, readJson } from "../lib/json";
import { stablePath, statOf } from "../lib/paths";
import { readText } from "../lib/read-regular";
import { claudeFolder } from "./config-dir";
import { answerHookSettings, type HookGroup, type HookSettings, hookSettings } from "./hooks";
import { projectFolder } from "./project";

/** A larger file of settings is not read. */
const MAX_BYTES = 1024 * 1024;

/** A settings file of Claude Code's that is there and is JSON. */
export interface SettingsFile {
  path: string;
  content: JsonObject;
}

/** The settings files that apply in `cwd`, the strongest first. */
export function settingsPaths(cwd: string, configFolder: string): string[] {
  return [...topsOf(cwd).flatMap(projectSettings), join(configFolder, "settings.json")];
}

/** The CLI reads the folder's own settings and those of its repository's top, and no others on the way up (2.1.330). */
function topsOf(cwd: string): string[] {
  return [...new Set([cwd, projectFolder(cwd)])];
}

function projectSettings(top: string): string[] {
  const folder = join(top, ".claude");
  return [join(folder, "settings.local.json"), join(folder, "settings.json")];
}

/** The files that exist and can be read. */
export function settingsFiles(paths: readonly string[]): SettingsFile[] {
  return paths.flatMap((path) => {
    const content = readJson(path);
    return content ? [{ path, content }] : [];
  });
}

/** The settings that a CLI started in a folder finds: `claude-code.FolderSetup` in Lua. */
export interface FolderSetup {
  folder: string;
  /** All our hooks, so that it needs none from us. */
  has_hooks: boolean;
  /** The hook of the option `permissions.answer`. */
  has_answers: boolean;
  /** Why it runs no hooks: the file and its setting. */
  off?: string;
}

export function folderSetup(folder: string): FolderSetup {
  const off = hooksOff(folder);
  return {
    folder,
    has_hooks: areInstalled(folder, hookSettings()),
    has_answers: areInstalled(folder, answerHookSettings()),
    ...(off !== undefined && { off }),
  };
}

/** Why a CLI that starts in `cwd` runs no hooks: the file and its setting. */
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

/**
 * Whether one settings file that the CLI reads in `cwd` has exactly these hooks, and their program exists. If a similar
 * hook, or only some of them, sufficed, we would silently leave the others out.
 */
function areInstalled(cwd: string, wanted: HookSettings): boolean {
  if (!existsSync(stablePath())) return false;
  return settingsPaths(cwd, claudeFolder()).some((path) => {
    const hooks = readJson(path, MAX_BYTES)?.hooks;
    if (!isObject(hooks)) return false;
    return Object.entries(wanted).every(([event, groups]) =>
      groups.every((group) => hasGroup(hooks[event], group)),
    );
  });
}

/** A group without a matcher runs for every tool, so it covers any matcher. */
function hasGroup(groups: unknown, { matcher, hooks: [wanted] }: HookGroup): boolean {
  return (Array.isArray(groups) ? groups : []).some(
    (group: Partial<HookGroup> | null) =>
      (group?.matcher ?? matcher) === matcher &&
      Array.isArray(group?.hooks) &&
      group.hooks.some((hook) => Bun.deepEquals(hook, wanted, true)),
  );
}
