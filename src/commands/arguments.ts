import { isatty } from "node:tty";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { Failure, message } from "../lib/errors";
import { print } from "../lib/output";

/** Parses the options of a command. Throws Failure with a text that ends with `usage`. */
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

/** Asks the user in the terminal. Without a terminal it prints how to continue, and returns false. */
export function isConfirmed(): boolean {
  if (!isatty(0)) {
    print("Nothing was changed. Use --yes to do this without a question.\n");
    return false;
  }
  return /^y(es)?$/i.test(prompt("Do this? [y/N]") ?? "");
}
