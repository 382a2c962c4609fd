import { Failure, failureCode } from "../lib/errors";
import { isObject } from "../lib/json";

/** Calls a method of the plugin, which returns `{ value }` or `{ error }` (see `unwrap`). */
export const CALL = 'return require("claude-code.editor").call(...)';

const BUSY =
  "Neovim is busy (it may be waiting for a key or running a command). " +
  "Nothing was changed; try again in a moment.";

/** Returns the value of the plugin's answer, or throws its failure. A hook has no time to load a schema library. */
export function unwrap(answer: unknown): unknown {
  if (!isObject(answer)) throw new Error("the plugin sent an answer that is not in the contract");
  const { value, error } = answer;
  if (error === undefined) return value;
  const { code, message } = error as { code: string; message: string };
  throw new Failure(message, code);
}

/** Turns Failure "late" into "busy". */
export async function unlessBusy<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw failureCode(error) === "late" ? new Failure(BUSY, "busy") : error;
  }
}

/** An undefined field would be vim.NIL in Lua. */
export function withoutUndefined<T extends object>(params: T): T {
  const given = Object.entries(params).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as T;
}
