import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { commandWords } from "./command";
import { claudeStateFile } from "./config-dir";
import { SERVER_NAME } from "./names";

/** Where the CLI's installers put it, for a program that was started without the shell's $PATH. */
const PLACES = [".local/bin/claude", ".claude/local/claude"];

export const ADD_ARGUMENTS = ["mcp", "add", SERVER_NAME, "-s", "local", "--"];
export const REMOVE_ARGUMENTS = ["mcp", "remove", SERVER_NAME, "-s", "local"];
const RUN_MS = 30_000;

export function serverCommand(): string[] {
  return commandWords(["mcp"]);
}

/** Never from a relative entry of $PATH: the project may be hostile. */
export function findClaude(
  env: Record<string, string | undefined> = process.env,
): string | undefined {
  const name = process.platform === "win32" ? "claude.exe" : "claude";
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  const paths = [
    ...folders.map((folder) => join(folder, name)),
    ...PLACES.map((place) => join(homedir(), place)),
  ];
  return paths.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** What the CLI has under our server's name for a project: nothing, ours, or somebody else's. */
export function installedServer(root: string): "none" | "ours" | "foreign" {
  try {
    const config = JSON.parse(readFileSync(claudeStateFile(), "utf8"));
    const entry = config?.projects?.[root]?.mcpServers?.[SERVER_NAME];
    if (entry === undefined) return "none";
    const words = [entry.command, ...(entry.args ?? [])].join("\0");
    return words === serverCommand().join("\0") ? "ours" : "foreign";
  } catch {
    return "none";
  }
}

/** Runs the CLI in a project. Resolves to its complaint if it failed. */
export async function runClaude(
  claude: string,
  args: readonly string[],
  root: string,
): Promise<string | undefined> {
  const child = Bun.spawn([claude, ...args], {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: RUN_MS,
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return code === 0 ? undefined : (err || out).trim() || `it ended with code ${code}`;
}
