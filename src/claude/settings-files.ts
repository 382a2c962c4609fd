import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "./project";

type Json = Record<string, unknown>;

/** A settings file of Claude Code's that is there and is JSON. */
export interface SettingsFile {
  path: string;
  content: Json;
}

/** The settings files that apply in `cwd`, the strongest first. */
export function settingsFiles(cwd: string, configFolder: string): SettingsFile[] {
  const project = projectFolder(cwd);
  return [
    join(project, ".claude", "settings.local.json"),
    join(project, ".claude", "settings.json"),
    join(configFolder, "settings.json"),
  ].flatMap((path) => {
    const content = readJson(path);
    return content ? [{ path, content }] : [];
  });
}

/** The JSON object in a file; undefined if there is none. */
export function readJson(path: string): Json | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isObject(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
