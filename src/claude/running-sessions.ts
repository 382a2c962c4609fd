import * as v from "valibot";
import { readJson } from "../lib/json";
import { namesIn } from "../lib/paths";
import { join, normal } from "../lib/platform";
import { isGone } from "../lib/process";
import { claudeFolder } from "./config-dir";

/** The CLI itself ignores longer files (2.1.330). */
const MAX_BYTES = 262_144;

/** The CLI keeps one file for each process. The folder may also hold other files. */
const MAX_FILES = 500;

const text = v.fallback(v.optional(v.string()), undefined);

const Session = v.object({
  pid: v.fallback(v.optional(v.number()), undefined),
  sessionId: text,
  cwd: v.fallback(v.optional(v.pipe(v.string(), v.transform(normal))), undefined),
  /** `interactive`, or `bg` for a session in the background. */
  kind: text,
  /** The process has no session yet. */
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
 * A running CLI describes its session in `sessions/PID.json`, and removes the file when it ends (measured with
 * 2.1.330). The format is not documented. With `-p` the CLI writes no file.
 */
export type RunningSession = v.InferOutput<typeof Session> & { pid: number };

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
  /** When the status began, in ms since the epoch; 0 if the CLI does not say. */
  since: number;
}

/**
 * The status of a session. It is `ended` if the CLI was killed; we can see that only if its process id is valid here.
 * Undefined if the CLI reports no status.
 */
export function sessionStatus(id: string): SessionStatus | undefined {
  const all = runningSessions().filter((one) => one.sessionId === id && one.status !== undefined);
  const running = all.find((one) => one.pidDomain === undefined || isRunning(one));
  if (running?.status !== undefined) {
    return { status: running.status, since: running.statusUpdatedAt ?? 0 };
  }
  return all.length > 0 ? { status: "ended", since: Date.now() } : undefined;
}

/** True if the CLI with this process id asks the user something. Enter would then be an answer. */
export function isAsking(pid: number): boolean {
  return read(pid)?.status === "waiting";
}

/** A CLI on another machine or in a container counts as running: its process id is not valid here. */
export function isRunning({ pid, pidDomain, procStart }: RunningSession): boolean {
  return !isGone({ pid, domain: pidDomain, start: procStart });
}

function read(pid: number): RunningSession | undefined {
  const content = readJson(join(sessionsFolder(), `${pid}.json`), MAX_BYTES);
  const { success, output } = v.safeParse(Session, content);
  // The file is being written, or describes another process.
  if (!success || (output.pid ?? pid) !== pid) return undefined;
  return { ...output, pid };
}
