import { printError } from "./output";

/** The exit code for a wrong command line or launch line. */
export const USAGE_EXIT = 2;

/** Exit codes by the code of a Failure; 1 for any other. The plugin knows the one for `contract` (server/process.lua). */
export const EXIT_CODES: Readonly<Record<string, number>> = {
  usage: USAGE_EXIT,
  contract: 3,
  no_port: 4,
  no_neovim: 5,
};

/**
 * An expected failure, in this program or in Neovim. The message says what failed, and what to do. `code` identifies
 * the cause, for example "not_open" or "busy".
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

/** Undefined for a defect and for an error of the system. */
export function failureCode(error: unknown): string | undefined {
  return error instanceof Failure ? error.code : undefined;
}

/** The message of anything that was thrown. */
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

/** Prints an error for the user, and returns `code`. */
export function complain(code: number, text: string): number {
  printError(`claude-code-nvim: ${text}\n`);
  return code;
}
