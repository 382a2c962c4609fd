import { join } from "node:path";
import { readRegular } from "../lib/read-regular";
import { projectFolder } from "./project";

type Json = Record<string, unknown>;

/** A settings file of Claude Code's that is there and is JSON. */
export interface SettingsFile {
  path: string;
  content: Json;
}

/** Where the settings files are that apply in `cwd`, the strongest first. */
export function settingsPaths(cwd: string, configFolder: string): string[] {
  const project = projectFolder(cwd);
  return [
    join(project, ".claude", "settings.local.json"),
    join(project, ".claude", "settings.json"),
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

/** The JSON object in a file, with or without a byte order mark; undefined if there is none. */
export function readJson(path: string): Json | undefined {
  try {
    const content: unknown = JSON.parse(
      readRegular(path)
        .toString()
        .replace(/^\uFEFF/, ""),
    );
    return isObject(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
