import { readFileSync, readlinkSync } from "node:fs";
import { getPriority, hostname } from "node:os";
import { attempt } from "./errors";
import { IS_LINUX, IS_WINDOWS, SYSTEM } from "./platform";

const MACHINE = "/etc/machine-id";
const NAMESPACE = "/proc/self/ns/pid";

/** Identifies a process. In another container, its id is that of another process. */
interface ProcessName {
  pid: number;
  /** The machine and namespace in which the id is valid, if not our own. */
  domain?: string | undefined;
  /** Field 22 of Linux's /proc/PID/stat, the time of its start: another process may have its id by now. */
  start?: string | undefined;
}

export function ownProcess(): { pid: number; domain: string } {
  return { pid: process.pid, domain: processDomain() };
}

/** True if the process has ended. One of another machine or container counts as running. */
export function isGone({ pid, domain, start }: ProcessName): boolean {
  return (domain === undefined || domain === processDomain()) && !isAlive(pid, start);
}

/** The CLI's name (2.1.330) for the domain of our process ids. */
export function processDomain(): string {
  if (IS_WINDOWS) return `linux:${hostname().toLowerCase()}`;
  if (!IS_LINUX) return "linux";
  const machine = attempt(() => readFileSync(MACHINE, "utf8").trim()) ?? "";
  const namespace = attempt(() => readlinkSync(NAMESPACE)) ?? "";
  return `linux:${machine}:${namespace}`;
}

/** True if the process runs, if we may not signal it, and, to be safe, if the id is invalid. */
export function isAlive(pid: number, start?: string): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    // On macOS, kill(2) finds a process that has ended while its parent has not waited for it. This does not.
    if (SYSTEM === "darwin") getPriority(pid);
  } catch (error) {
    const { code, info = { code } } = error as NodeJS.ErrnoException & { info?: { code: string } };
    return info.code !== "ESRCH";
  }
  const { state = "", began = start } = attempt(() => statOf(pid)) ?? {};
  // Z: the process has ended, but its parent has not waited for it. In containers the parent may never do that.
  return !/^[ZX]/.test(state) && (start === undefined || began === start);
}

/** Reads /proc/PID/stat, on Linux only. `began` is in ticks since the machine booted. Throws. */
export function statOf(pid: number | "self") {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name may contain any characters, also parentheses.
  const end = stat.lastIndexOf(")");
  const fields = stat.slice(end + 2).split(" ");
  return {
    name: stat.slice(stat.indexOf("(") + 1, end),
    state: fields[0],
    parent: Number(fields[1]),
    began: fields[19],
  };
}

/** A tick of Linux, on every machine for which we build the executable. */
const TICK_MS = 10;
/** If the two times differ more, their clocks differ. */
const MAX_LOADING_MS = 10_000;

/**
 * The time of this process's start, in ms since the epoch. On Linux it is exact. Otherwise it is when the program was
 * loaded, which may be 100 ms later on a busy machine.
 */
export function startedAt(): number {
  const loaded = performance.timeOrigin;
  if (!IS_LINUX) return loaded;
  try {
    const ticks = Number(statOf("self").began);
    const uptimeMs = Number.parseFloat(readFileSync("/proc/uptime", "latin1")) * 1000;
    const started = Date.now() - uptimeMs + ticks * TICK_MS;
    return started < loaded && loaded - started < MAX_LOADING_MS ? started : loaded;
  } catch {
    return loaded;
  }
}

/** Resolves to the name of the first signal that asks us to end. */
export function signalled(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
      process.on(signal, () => resolve(signal));
  });
}

/** Our running children; a negative id is a group. We kill them at our end: a git that opens a FIFO runs forever. */
export const ownChildren = new Set<number>();

process.once("exit", () => {
  for (const pid of ownChildren) killNow(pid);
});

/** Kills a process, or a group (`-pid`), if it still runs. */
export function killNow(pid: number): void {
  attempt(() => process.kill(pid, "SIGKILL"));
}
