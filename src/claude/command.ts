import { stablePath } from "../lib/paths";
import { IS_WINDOWS, native } from "../lib/platform";

/**
 * Each of these variables makes a compiled Bun program run other code, act as Bun itself, or open a debugger's port.
 * The list is complete for Bun 1.4.5. Lua clears every variable with these prefixes (install/executable.lua).
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
 * For processes that mostly wait. The timer of Bun's garbage collector wakes them every ten seconds (in ms), instead of
 * 13 times a second. lua/claude-code/server/process.lua sets the same for `serve`.
 */
export const RARELY_AWAKE = { BUN_GC_TIMER_INTERVAL: "10000" };

/** The environment of our MCP server, in which empty HAZARDS do nothing. Claude Code gives hooks none. */
export const SERVER_ENVIRONMENT: Record<string, string> = {
  ...RARELY_AWAKE,
  ...(IS_WINDOWS && Object.fromEntries(HAZARDS.map((name) => [name, ""]))),
};

/** Starts a program without HAZARDS. Every system but Windows has env(1) at this path. */
export const ENV_WITHOUT_HAZARDS = ["/usr/bin/env", ...HAZARDS.flatMap((name) => ["-u", name])];

/** The words of a command that starts the executable. On Windows, which has no env(1), it ignores `env`. */
export function commandWords(
  args: readonly string[],
  executable = stablePath(),
  env: Record<string, string> = {},
): string[] {
  if (IS_WINDOWS) return [native(executable), ...args];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // env(1) would take a path that contains `=` for another variable.
  const program = executable.includes("=")
    ? ["/bin/sh", "-c", 'exec "$0" "$@"', executable]
    : [executable];
  return [...ENV_WITHOUT_HAZARDS, ...variables, ...program, ...args];
}
