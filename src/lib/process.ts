import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { attempt } from "./errors";

const MACHINE = "/etc/machine-id";
const NAMESPACE = "/proc/self/ns/pid";

/** A process, and where its id is valid: in another container it is that of another process. */
interface ProcessName {
  pid: number;
  /** Ours if it is left out. */
  domain?: string | undefined;
  /** When it began, as Linux counts (field 22 of /proc/PID/stat): another process may have its id by now. */
  start?: string | undefined;
}

/** This process, as others may ask for it later. */
export function ownProcess(): { pid: number; domain: string } {
  return { pid: process.pid, domain: processDomain() };
}

/** Has the process ended? One of another machine or container counts as running: nothing here knows. */
export function isGone({ pid, domain, start }: ProcessName): boolean {
  return (domain === undefined || domain === processDomain()) && !isAlive(pid, start);
}

/** The domain of our process ids, as the CLI (2.1.330) names it. */
export function processDomain(): string {
  if (process.platform === "win32") return `linux:${hostname().toLowerCase()}`;
  if (process.platform !== "linux") return "linux";
  const machine = attempt(() => readFileSync(MACHINE, "utf8").trim()) ?? "";
  const namespace = attempt(() => readlinkSync(NAMESPACE)) ?? "";
  return `linux:${machine}:${namespace}`;
}

/** Whether a process runs. True for processes that we may not signal and, to be safe, for invalid process ids. */
export function isAlive(pid: number, start?: string): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
  const { state = "", began = start } = attempt(() => statOf(pid)) ?? {};
  // Z: it has ended, and its parent has not waited for it yet; in containers that may never come.
  return !/^[ZX]/.test(state) && (start === undefined || began === start);
}

/** Reads /proc/PID/stat of a process; `began` in ticks since the machine's start. Linux only; throws. */
export function statOf(pid: number | "self") {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name may hold anything.
  const end = stat.lastIndexOf(")");
  const fields = stat.slice(end + 2).split(" ");
  return {
    name: stat.slice(stat.indexOf("(") + 1, end),
    state: fields[0],
    parent: Number(fields[1]),
    began: fields[19],
  };
}

/** Linux's unit of a process's times, on every machine that the executable is built for. */
const TICK_MS = 10;
/** If they differ more, the two are not of the same clock. */
const MAX_LOADING_MS = 10_000;

/**
 * When this process was started, in ms since the epoch. Linux knows it; the runtime's own time begins when the program
 * has been loaded, on a busy machine 100 ms later.
 */
export function startedAt(): number {
  const loaded = performance.timeOrigin;
  if (process.platform !== "linux") return loaded;
  try {
    const ticks = Number(statOf("self").began);
    const uptimeMs = Number.parseFloat(readFileSync("/proc/uptime", "latin1")) * 1000;
    const started = Date.now() - uptimeMs + ticks * TICK_MS;
    return started < loaded && loaded - started < MAX_LOADING_MS ? started : loaded;
  } catch {
    return loaded;
  }
}

/** Resolves, with its name, at the first signal that asks us to end. */
export function signalled(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
      process.on(signal, () => resolve(signal));
  });
}

/**
 * The processes that the executable has started and that still run: ids, negative ones of whole groups. They end with
 * the executable: a git that opens a FIFO would never end.
 */
export const ownChildren = new Set<number>();

process.once("exit", () => {
  for (const pid of ownChildren) killNow(pid);
});

/** Ends a process, or a group of them (`-pid`), if it still runs. */
export function killNow(pid: number): void {
  attempt(() => process.kill(pid, "SIGKILL"));
}
