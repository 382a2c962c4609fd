import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Names the permission mode in a settings file of the CLI, in a home or a project. */
export function settings(folder: string, file: string, defaultMode: string): void {
  mkdirSync(join(folder, ".claude"), { recursive: true });
  const content = { permissions: { defaultMode } };
  writeFileSync(join(folder, ".claude", file), JSON.stringify(content));
}
