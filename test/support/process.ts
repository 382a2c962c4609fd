import { spawn } from "node:child_process";
import { attempt } from "../../src/lib/errors";
import { IS_WINDOWS } from "../../src/lib/platform";

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

interface Options {
  cwd?: string;
  env?: Record<string, string>;
  stdin?: Blob | ReadableStream | "ignore";
  /** After this time it is killed. */
  timeout?: number;
}

/** Runs a program to its end. */
export async function run(command: string[], options: Options = {}): Promise<Ended> {
  const pipes = { stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const;
  const child = Bun.spawn(command, { ...pipes, killSignal: "SIGKILL", ...options });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

/** Words that run a shell's script: on Windows in Bun's own shell, which knows less. */
export function shell(script: string): string[] {
  return IS_WINDOWS ? [process.execPath, "exec", script] : ["sh", "-c", script];
}

/** A program that runs until it is killed, whatever further arguments it gets. */
export const SLEEP = IS_WINDOWS
  ? [process.execPath, "-e", "setTimeout(() => {}, 1e9)", "--"]
  : ["sh", "-c", "exec sleep 1000"];
/** The same as a value in Lua. */
export const LUA_SLEEP = `vim.json.decode([=[${JSON.stringify(SLEEP)}]=])`;

export const startSleeping = () => spawn(SLEEP[0] as string, SLEEP.slice(1), { stdio: "ignore" });

/** The id of a process that has ended. */
export const deadPid = () => Bun.spawnSync(IS_WINDOWS ? ["hostname"] : ["true"]).pid;

/** One field of ps(1) for a process; "" if there is none. */
export function ps(field: string, pid: number): string {
  const { stdout } = Bun.spawnSync(["ps", "-ww", "-o", `${field}=`, "-p", String(pid)]);
  return stdout.toString().trim();
}

/** A zombie does not run: what outlives its Neovim may become a child of the test runner, which waits for none. */
export const isRunning = (pid: number) =>
  IS_WINDOWS ? attempt(() => process.kill(pid, 0)) === true : /^[^Z]/.test(ps("stat", pid));
