import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../lib/process";
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
 * `sessions/PID.json`, and removes it at its end). `ended` of one that was killed, where its process id
 * means the same here. Undefined where nothing is said: with `-p`, or by another version.
 */
export function sessionStatus(session: string): SessionStatus | undefined {
  const folder = sessionsFolder();
  let found: SessionStatus | undefined;
  for (const name of names(folder)) {
    try {
      const entry = JSON.parse(readFileSync(join(folder, name), "utf8")) as Record<string, unknown>;
      if (entry.sessionId !== session || typeof entry.status !== "string") continue;
      const since = entry.statusUpdatedAt;
      if (!isGone(entry, Number.parseInt(name, 10))) {
        return { status: entry.status, since: typeof since === "number" ? since : 0 };
      }
      found = { status: "ended", since: Date.now() };
    } catch {
      // Being written, or not a session's.
    }
  }
  return found;
}

/** `pidDomain` ends with the namespace of the process id, as Linux names it. */
function isGone({ pidDomain }: Record<string, unknown>, pid: number): boolean {
  if (typeof pidDomain !== "string" || process.platform !== "linux") return false;
  return pidDomain.endsWith(`:${readlinkSync("/proc/self/ns/pid")}`) && !isAlive(pid);
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+\.json$/.test(name));
  } catch {
    return [];
  }
}
