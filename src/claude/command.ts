import { stablePath } from "../lib/paths";

/**
 * Each makes a compiled Bun program run other code, run as Bun itself, or open a debugger's port. With
 * Bun 1.4.5 these are all. Lua clears whatever begins so (install/executable.lua).
 */
const HAZARDS = [
  "BUN_OPTIONS",
  "BUN_BE_BUN",
  "BUN_INSPECT",
  "BUN_INSPECT_CONNECT_TO",
  "BUN_INSPECT_NOTIFY",
  "BUN_INSPECT_PRELOAD",
] as const;

/**
 * For processes that wait long: Bun's garbage collector wakes 13 times a second, with this every ten seconds (ms;
 * lua/claude-code/server/process.lua sets the same for `serve`).
 */
export const RARELY_AWAKE = { BUN_GC_TIMER_INTERVAL: "10000" };

/** Starts a program without HAZARDS. Every system but Windows has env(1) at this path. */
export const ENV_WITHOUT_HAZARDS = ["/usr/bin/env", ...HAZARDS.flatMap((name) => ["-u", name])];

/** A command that starts the executable, word by word, with these variables where there is env(1). */
export function commandWords(
  args: readonly string[],
  executable = stablePath(),
  env: Record<string, string> = {},
): string[] {
  if (process.platform === "win32") return [executable, ...args];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // env(1) would take such a path for one more variable, and the next word for the program.
  const program = executable.includes("=")
    ? ["/bin/sh", "-c", 'exec "$0" "$@"', executable]
    : [executable];
  return [...ENV_WITHOUT_HAZARDS, ...variables, ...program, ...args];
}

/** The same as one line for a shell, as hooks need it. */
export function commandLine(
  args: readonly string[],
  executable = stablePath(),
  env: Record<string, string> = {},
): string {
  return commandWords(args, executable, env).map(quoted).join(" ");
}

/**
 * A hook's command for a settings file, which may outlive the program: with the program gone it does
 * nothing. The hook itself always ends with 0, so anything else is a program that does not run.
 */
export function hookLine(event: string, env?: Record<string, string>): string {
  const line = commandLine(["hook", event], stablePath(), env);
  if (process.platform === "win32") return line;
  const why = "claude-code-nvim does not run; if its package strips programs, it needs !strip";
  return `[ ! -x ${quoted(stablePath())} ] || ${line} || { echo '${why}' >&2; exit 1; }`;
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (process.platform === "win32") return `"${word}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
