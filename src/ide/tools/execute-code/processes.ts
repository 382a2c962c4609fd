import { readdirSync, readFileSync } from "node:fs";

export interface Process {
  pid: number;
  parent: number;
  /** One letter as in proc(5); Z is a zombie. */
  state: string;
}

/** All processes that /proc shows; none where there is no /proc. */
export function processes(): Process[] {
  return names()
    .filter((name) => /^\d+$/.test(name))
    .map((name) => status(Number(name)))
    .filter((process) => process !== undefined);
}

/** The environment a process was started with, as NAME=value; empty if we may not read it. */
export function environment(pid: number): string[] {
  return read(`/proc/${pid}/environ`)?.split("\0") ?? [];
}

function status(pid: number): Process | undefined {
  const text = read(`/proc/${pid}/stat`);
  // The second field is the program's name in parentheses, which may hold anything.
  const [state = "", parent] = text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? [];
  return parent === undefined ? undefined : { pid, parent: Number(parent), state };
}

function names(): string[] {
  try {
    return readdirSync("/proc");
  } catch {
    return [];
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
