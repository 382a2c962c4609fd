import { isatty } from "node:tty";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { message, USAGE_EXIT, UserError } from "../lib/errors";
import { print } from "../lib/output";

/** The options given to a command. Throws UserError, whose text ends with `usage`. */
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

export function usageError(problem: string, usage: string): UserError {
  return new UserError(`${problem}\nUsage: claude-code-nvim ${usage}`, USAGE_EXIT);
}

/** Asks the user at the terminal; without one, says how to go on, and the answer is no. */
export function isConfirmed(): boolean {
  if (!isatty(0)) {
    print("Nothing was changed. Use --yes to do this without a question.\n");
    return false;
  }
  return /^y(es)?$/i.test(prompt("Do this? [y/N]") ?? "");
}
