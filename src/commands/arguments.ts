import { isatty } from "node:tty";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { Failure, message } from "../lib/errors";
import { print } from "../lib/output";

/** The options given to a command. Throws Failure, whose text ends with `usage`. */
export function parseOptions<const T extends ParseArgsOptionsConfig>(
  args: string[],
  options: T,
  usage: string,
) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw usageError(message(error), usage);
  }
}

export function usageError(problem: string, usage: string): Failure {
  return new Failure(`${problem}\nUsage: claude-code-nvim ${usage}`, "usage");
}

/** Asks the user at the terminal; without a terminal it shows how to continue, and answers "no". */
export function isConfirmed(): boolean {
  if (!isatty(0)) {
    print("Nothing was changed. Use --yes to do this without a question.\n");
    return false;
  }
  return /^y(es)?$/i.test(prompt("Do this? [y/N]") ?? "");
}
