import { printError } from "./output";

/** The exit code for a command line, or a launch line, that is not accepted. */
export const USAGE_EXIT = 2;

/**
 * The exit codes of failures with these codes; 1 for any other. The plugin knows `contract` (server/exit_message.lua).
 */
export const EXIT_CODES: Readonly<Record<string, number>> = {
  usage: USAGE_EXIT,
  contract: 3,
  no_port: 4,
  no_neovim: 5,
};

/**
 * An expected failure, here or in Neovim: the message says what happened, to what, and what to do. `code` is a stable
 * word for the cause, such as "not_open" or "busy".
 */
export class Failure extends Error {
  override readonly name = "Failure";

  constructor(
    message: string,
    readonly code = "refused",
  ) {
    super(message);
  }
}

/** Undefined for a defect, or an error of the system's. */
export function failureCode(error: unknown): string | undefined {
  return error instanceof Failure ? error.code : undefined;
}

/** The message of an error, whatever was thrown. */
export function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The result of `work`; undefined if it throws. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Prints an error for the user; returns the exit code, to be passed on. */
export function complain(code: number, text: string): number {
  printError(`claude-code-nvim: ${text}\n`);
  return code;
}
