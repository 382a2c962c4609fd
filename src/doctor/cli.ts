import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "./facts";

/** The Claude CLI that a shell with this environment starts. */
export interface Cli {
  path: string;
  /** Undefined when it does not run. */
  version?: string;
}

/** Where its installers put it, should the shell's $PATH lack that folder. */
const PLACES = [".local/bin/claude", ".claude/local/claude"];
const VERSION_MS = 10_000;

export async function findCli(
  env: Environment,
  home: string,
  given?: string,
): Promise<Cli | undefined> {
  const path =
    given ??
    Bun.which("claude", { PATH: env.PATH ?? "" }) ??
    PLACES.map((place) => join(home, place)).find(existsSync);
  if (!path) return undefined;
  const version = await versionOf(path);
  return { path, ...(version && { version }) };
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const child = Bun.spawn([path, "--version"], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      timeout: VERSION_MS,
      killSignal: "SIGKILL",
    });
    return /^(\d+\.\d+\.\d+)/.exec(await new Response(child.stdout).text())?.[1];
  } catch {
    return undefined;
  }
}
