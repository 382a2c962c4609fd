import { join } from "node:path";
import * as v from "valibot";
import { readJson } from "../lib/json";
import { namesIn } from "../lib/paths";
import { isGone } from "../lib/process";
import { claudeFolder } from "./config-dir";

/** The CLI itself reads no more (2.1.330). */
const MAX_BYTES = 262_144;

const Session = v.object({
  sessionId: v.fallback(v.optional(v.string()), undefined),
  /** `idle`, `busy`, `shell` or `waiting`. */
  status: v.fallback(v.optional(v.string()), undefined),
  statusUpdatedAt: v.fallback(v.optional(v.number()), undefined),
  /** Which machine and namespace the process id is of. */
  pidDomain: v.fallback(v.optional(v.string()), undefined),
});

/**
 * What a running CLI says of its session: it writes `sessions/PID.json`, and removes that at its end
 * (measured with 2.1.330). Nobody promised the format. With `-p` it writes none.
 */
type RunningSession = v.InferOutput<typeof Session> & { pid: number };

/** Where running CLIs keep what they say of their sessions. */
export function sessionsFolder(): string {
  return join(claudeFolder(), "sessions");
}

export function runningSessions(): RunningSession[] {
  const pids = namesIn(sessionsFolder()).flatMap((name) => /^(\d+)\.json$/.exec(name)?.[1] ?? []);
  return pids.flatMap((pid) => read(Number(pid)) ?? []);
}

interface SessionStatus {
  status: string;
  /** Since when, in ms since the epoch; 0 if the CLI does not say it. */
  since: number;
}

/**
 * The status of a session, `ended` of one whose CLI was killed, where its process id means the same here.
 * Undefined where nothing is said.
 */
export function sessionStatus(id: string): SessionStatus | undefined {
  const all = runningSessions().filter((one) => one.sessionId === id && one.status !== undefined);
  const running = all.find((one) => one.pidDomain === undefined || isRunning(one));
  if (running?.status !== undefined) {
    return { status: running.status, since: running.statusUpdatedAt ?? 0 };
  }
  return all.length > 0 ? { status: "ended", since: Date.now() } : undefined;
}

/** Whether the CLI with this process id asks its user something, so that Enter would be an answer. */
export function isAsking(pid: number): boolean {
  return read(pid)?.status === "waiting";
}

/** Whether its CLI still runs. Of one of another machine or container only that CLI knows: to be safe, it does. */
export function isRunning({ pid, pidDomain }: RunningSession): boolean {
  return !isGone({ pid, domain: pidDomain });
}

function read(pid: number): RunningSession | undefined {
  const content = readJson(join(sessionsFolder(), `${pid}.json`), MAX_BYTES);
  const { success, output } = v.safeParse(Session, content);
  // It is being written, or not a session's.
  return success ? { ...output, pid } : undefined;
}
