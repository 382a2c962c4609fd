import { join } from "node:path";
import { type JsonObject, readJson } from "../lib/json";
import { projectFolder } from "./project";

/** A settings file of Claude Code's that is there and is JSON. */
export interface SettingsFile {
  path: string;
  content: JsonObject;
}

/** Where the settings files are that apply in `cwd`, the strongest first. */
export function settingsPaths(cwd: string, configFolder: string): string[] {
  const tops = new Set([cwd, projectFolder(cwd)]);
  return [
    ...[...tops].flatMap((top) => [
      join(top, ".claude", "settings.local.json"),
      join(top, ".claude", "settings.json"),
    ]),
    join(configFolder, "settings.json"),
  ];
}

/** Those that are there and can be read. */
export function settingsFiles(paths: readonly string[]): SettingsFile[] {
  return paths.flatMap((path) => {
    const content = readJson(path);
    return content ? [{ path, content }] : [];
  });
}
