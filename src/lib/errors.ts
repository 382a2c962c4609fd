import { printError } from "./output";

/** The exit code for a command line, or a launch line, that is not accepted. */
export const USAGE_EXIT = 2;

/** Something that the user can fix. The message says what happened, to what, and what to do. */
export class UserError extends Error {
  override readonly name = "UserError";

  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}

/** What an error says, whatever was thrown. */
export function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Prints an error for the user; returns the exit code, to be passed on. */
export function complain(code: number, text: string): number {
  printError(`claude-code-nvim: ${text}\n`);
  return code;
}
