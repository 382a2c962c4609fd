import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claudeFolder } from "./config-dir";

export interface SessionStatus {
  status: string;
  /** Since when, in ms since the epoch; 0 if the CLI does not say it. */
  since: number;
}

/** Where running CLIs keep what they say of their sessions. */
export function sessionsFolder(): string {
  return join(claudeFolder(), "sessions");
}

/**
 * What a running CLI says of its session: `idle`, `busy` or `waiting` (2.1.330 writes
 * `sessions/PID.json`, and removes it at its end). Undefined where none does: with `-p`, or another
 * version.
 */
export function sessionStatus(session: string): SessionStatus | undefined {
  const folder = sessionsFolder();
  for (const name of names(folder)) {
    try {
      const entry = JSON.parse(readFileSync(join(folder, name), "utf8")) as Record<string, unknown>;
      if (entry.sessionId !== session || typeof entry.status !== "string") continue;
      const since = entry.statusUpdatedAt;
      return { status: entry.status, since: typeof since === "number" ? since : 0 };
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
