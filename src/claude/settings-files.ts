import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Surroundings } from "../doctor/facts";
import { gitTop } from "../setup/project-root";
import { claudeStateFile } from "./config-dir";

type Json = Record<string, unknown>;

/** A settings file of Claude Code's that is there and is JSON. */
export interface SettingsFile {
  path: string;
  content: Json;
}

/** The settings files that hold in a project, the strongest first. */
export function settingsFiles({ cwd, configFolder }: Surroundings): SettingsFile[] {
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

/** Claude Code's own state. */
export function globalConfig({ env, home }: Surroundings): SettingsFile {
  const path = claudeStateFile(env, home);
  return { path, content: readJson(path) ?? {} };
}

/** Claude Code takes a git repository's top folder for the project, else the working folder. */
export function projectFolder(cwd: string): string {
  return gitTop(cwd) ?? cwd;
}

export function readJson(path: string): Json | undefined {
  try {
    const content = JSON.parse(readFileSync(path, "utf8")) as unknown;
    return isObject(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
