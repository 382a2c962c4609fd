import { join } from "node:path";
import * as v from "valibot";
import { readJson } from "../lib/json";
import { namesIn } from "../lib/paths";
import { isGone } from "../lib/process";
import { claudeFolder } from "./config-dir";

/** The CLI itself reads no more (2.1.330). */
const MAX_BYTES = 262_144;

/** The CLI keeps one file for each process; anything else may be in the folder, too. */
const MAX_FILES = 500;

const text = v.fallback(v.optional(v.string()), undefined);

const Session = v.object({
  pid: v.fallback(v.optional(v.number()), undefined),
  sessionId: text,
  cwd: text,
  /** `interactive`, or `bg` of one in the background. */
  kind: text,
  /** A process that waits for a session to come. */
  spare: v.fallback(v.optional(v.boolean()), undefined),
  /** The argument of `claude attach`. */
  jobId: text,
  name: text,
  nameSource: text,
  /** `idle`, `busy`, `shell` or `waiting`. */
  status: text,
  statusUpdatedAt: v.fallback(v.optional(v.number()), undefined),
  waitingFor: text,
  /** The machine and namespace in which the process id is valid. */
  pidDomain: text,
  /** Field 22 of /proc/PID/stat. */
  procStart: text,
});

/**
 * A running CLI describes its session in `sessions/PID.json`, and removes that at its end
 * (measured with 2.1.330). The format is not documented. With `-p` it writes no file.
 */
export type RunningSession = v.InferOutput<typeof Session> & { pid: number };

/** Running CLIs describe their sessions there. */
export function sessionsFolder(): string {
  return join(claudeFolder(), "sessions");
}

export function runningSessions(): RunningSession[] {
  const names = namesIn(sessionsFolder()).slice(0, MAX_FILES);
  const pids = names.flatMap((name) => /^([1-9]\d*)\.json$/.exec(name)?.[1] ?? []);
  return pids.flatMap((pid) => read(Number(pid)) ?? []);
}

interface SessionStatus {
  status: string;
  /** Since when, in ms since the epoch; 0 if the CLI does not say it. */
  since: number;
}

/**
 * The status of a session, `ended` of one whose CLI was killed, where its process id means the same here.
 * Undefined where the CLI reports none.
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

/** Whether its CLI still runs. One of another machine or container counts as running: only that CLI knows. */
export function isRunning({ pid, pidDomain, procStart }: RunningSession): boolean {
  return !isGone({ pid, domain: pidDomain, start: procStart });
}

function read(pid: number): RunningSession | undefined {
  const content = readJson(join(sessionsFolder(), `${pid}.json`), MAX_BYTES);
  const { success, output } = v.safeParse(Session, content);
  // It is being written, or describes no session of this process.
  if (!success || (output.pid ?? pid) !== pid) return undefined;
  return { ...output, pid };
}
