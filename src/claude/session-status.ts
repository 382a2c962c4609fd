import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claudeFolder } from "./config-dir";

/**
 * What a running CLI says of its session: `idle`, `busy` or `waiting` (2.1.330 writes
 * `sessions/PID.json`, and removes it at its end). Undefined where none does: with `-p`, or another
 * version.
 */
export function sessionStatus(session: string): string | undefined {
  const folder = join(claudeFolder(), "sessions");
  for (const name of names(folder)) {
    try {
      const entry = JSON.parse(readFileSync(join(folder, name), "utf8")) as Record<string, unknown>;
      if (entry.sessionId === session && typeof entry.status === "string") return entry.status;
    } catch {
      // Being written, or not a session's.
    }
  }
  return undefined;
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+\.json$/.test(name));
  } catch {
    return [];
  }
}
