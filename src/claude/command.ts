import { stablePath } from "../lib/paths";

/** Each makes a compiled Bun program run other code, or itself run as Bun. */
const HAZARDS = ["BUN_OPTIONS", "BUN_BE_BUN"];

/** A command that starts the executable, word by word. */
export function commandWords(args: readonly string[], executable = stablePath()): string[] {
  if (process.platform === "win32") return [executable, ...args];
  return ["env", ...HAZARDS.flatMap((name) => ["-u", name]), executable, ...args];
}

/** The same as one line for a shell, as hooks need it. */
export function commandLine(args: readonly string[], executable = stablePath()): string {
  return commandWords(args, executable).map(quoted).join(" ");
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (process.platform === "win32") return `"${word}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
