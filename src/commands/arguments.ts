import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { message, USAGE_EXIT, UserError } from "../lib/errors";

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
