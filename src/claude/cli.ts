import { homedir } from "node:os";
import { isObject, readJson } from "../lib/json";
import { type Environment, isExecutable } from "../lib/paths";
import { dirname, IS_WINDOWS, join, SYSTEM } from "../lib/platform";
import { killNow, ownChildren } from "../lib/process";
import { absoluteEntries, type Lookup, onPath } from "../lib/programs";
import { commandWords } from "./command";
import { claudeStateFile } from "./config-dir";
import { SERVER_NAME } from "./names";

/**
 * Installers use these places, and those of Homebrew and npm are not on the $PATH of a program that the Dock starts.
 * Lua has the same list (claude/cli).
 */
const PLACES = ["~/.local/bin", "~/.claude/local", "~/.npm-global/bin"];
if (SYSTEM === "darwin") PLACES.push("/opt/homebrew/bin", "/usr/local/bin");
/** The program that npm's claude.cmd starts. cmd.exe would take our arguments apart. */
const BEHIND_SHIM = "node_modules/@anthropic-ai/claude-code/bin/claude.exe";

export const REMOVE_ARGUMENTS = ["mcp", "remove", SERVER_NAME, "-s", "local"];
const RUN_MS = 30_000;
const VERSION_MS = 10_000;

export function findClaude(env: Environment = process.env, home: string = homedir()): Lookup {
  const found = onPath("claude", env);
  const name = IS_WINDOWS ? "claude.exe" : "claude";
  const places = PLACES.map((folder) => `${folder.replace("~", () => home)}/${name}`);
  const path = found.path ?? places.find(isExecutable);
  return path ? { path: behindShim(path) } : found;
}

export function behindShim(path: string): string {
  const program = join(dirname(path), BEHIND_SHIM);
  return /\.cmd$/i.test(path) && isExecutable(program) ? program : path;
}

/** The version of the Claude CLI at `path`; undefined if it does not run. */
export async function claudeVersion(path: string): Promise<string | undefined> {
  const ran = await run([path, "--version"], { timeout: VERSION_MS }).catch(() => undefined);
  return /^(\d+\.\d+\.\d+)/.exec(ran?.out ?? "")?.[1];
}

/** Says whether the CLI has our MCP server in a project, as version 0.1 added it. */
export function hasOldServer(root: string): boolean {
  const projects = readJson(claudeStateFile())?.projects;
  const project = isObject(projects) ? projects[root] : undefined;
  const servers = isObject(project) ? project.mcpServers : undefined;
  const entry = isObject(servers) ? servers[SERVER_NAME] : undefined;
  if (!isObject(entry)) return false;
  const args = Array.isArray(entry.args) ? entry.args : [];
  return [entry.command, ...args].join("\0") === commandWords(["mcp"]).join("\0");
}

/** Runs the CLI in a project. Resolves to undefined, or to the CLI's output if it failed. */
export async function runClaude(
  claude: string,
  args: readonly string[],
  root: string,
): Promise<string | undefined> {
  const { out, err, code } = await run([claude, ...args], { cwd: root, timeout: RUN_MS });
  return code === 0 ? undefined : (err || out).trim() || `it ended with code ${code}`;
}

/** The last output arrives a moment after the end of a program. */
const DRAIN_MS = 500;

interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  stdin?: Uint8Array;
  /** In ms. */
  timeout: number;
  signal?: AbortSignal;
}

/**
 * Runs the CLI in a process group of its own, which is killed at the time-out, when `signal` aborts, when the CLI ends,
 * and with us. Rejects if the program does not start. Only absolute entries of $PATH remain: npm installs the CLI as a
 * script, and env(1) looks up its interpreter.
 */
export async function run(command: string[], { env, ...options }: RunOptions) {
  const hasGroups = !IS_WINDOWS;
  const child = Bun.spawn(command, {
    ...options,
    env: { ...process.env, PATH: absoluteEntries(process.env.PATH), ...env },
    detached: hasGroups,
    stdout: "pipe",
    stderr: "pipe",
    killSignal: "SIGKILL",
  });
  const group = hasGroups ? -child.pid : child.pid;
  ownChildren.add(group);
  const output = { out: "", err: "" };
  const read = async (name: "out" | "err", stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) output[name] += decoder.decode(bytes, { stream: true });
  };
  const done = Promise.all([read("out", child.stdout), read("err", child.stderr)]);
  await child.exited;
  killNow(group);
  ownChildren.delete(group);
  // A daemon may have left the group, and hold the pipes open.
  await Promise.race([done, Bun.sleep(DRAIN_MS)]);
  return { ...output, code: child.exitCode };
}
