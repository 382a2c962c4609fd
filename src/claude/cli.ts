import { homedir } from "node:os";
import { join } from "node:path";
import { isObject, readJson } from "../lib/json";
import { type Environment, isExecutable } from "../lib/paths";
import { type GroupOptions, runInGroup } from "../lib/process-group";
import { absoluteEntries, type Lookup, onPath } from "../lib/programs";
import { commandWords } from "./command";
import { claudeStateFile } from "./config-dir";
import { SERVER_NAME } from "./names";

/** The CLI's installers use these places. Neovim may have been started without the shell's $PATH. */
const PLACES = [".local/bin/claude", ".claude/local/claude"];

export const ADD_ARGUMENTS = ["mcp", "add", SERVER_NAME, "-s", "local", "--"];
export const REMOVE_ARGUMENTS = ["mcp", "remove", SERVER_NAME, "-s", "local"];
const RUN_MS = 30_000;
const VERSION_MS = 10_000;

export function findClaude(env: Environment = process.env, home: string = homedir()): Lookup {
  const found = onPath("claude", env);
  const path = found.path ?? PLACES.map((place) => join(home, place)).find(isExecutable);
  return path ? { path } : found;
}

/** The version of the Claude CLI at `path`; undefined if it does not run. */
export async function claudeVersion(path: string): Promise<string | undefined> {
  const ran = await run([path, "--version"], { timeout: VERSION_MS }).catch(() => undefined);
  return /^(\d+\.\d+\.\d+)/.exec(ran?.out ?? "")?.[1];
}

/** Says whether the CLI has an MCP server of our name in a project, and whether it is ours. */
export function installedServer(root: string): "none" | "ours" | "other" {
  const projects = readJson(claudeStateFile())?.projects;
  const project = isObject(projects) ? projects[root] : undefined;
  const servers = isObject(project) ? project.mcpServers : undefined;
  const entry = isObject(servers) ? servers[SERVER_NAME] : undefined;
  if (!isObject(entry)) return "none";
  const args = Array.isArray(entry.args) ? entry.args : [];
  const words = [entry.command, ...args].join("\0");
  return words === commandWords(["mcp"]).join("\0") ? "ours" : "other";
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

/**
 * Rejects if the program does not start. Only absolute entries of $PATH remain: npm installs the CLI as a script, and
 * env(1) looks up its interpreter.
 */
export async function run(command: string[], { env: own, ...options }: GroupOptions) {
  const env = { ...process.env, PATH: absoluteEntries(process.env.PATH), ...own };
  const { stdout, stderr, exitCode } = await runInGroup(command, { ...options, env });
  return { out: stdout, err: stderr, code: exitCode };
}
