import { EditorBusyError, EditorRefusal } from "../editor/port";
import { DeadlineError } from "../lib/deadline";
import { isObject } from "../lib/json";

/** Runs one method of the plugin: `{ value }` or `{ error }` comes back (see `unwrap`). */
export const CALL = 'return require("claude-code.editor").call(...)';

/**
 * The value of the plugin's answer. Throws EditorRefusal for an `error`, which is a sentence or
 * `{ code, message }`. Checked by hand: a hook has no time to load a schema library.
 */
export function unwrap(answer: unknown): unknown {
  if (!isObject(answer)) throw new Error("the plugin sent an answer that is not in the contract");
  const { value, error } = answer;
  if (error === undefined) return value;
  if (typeof error === "string") throw new EditorRefusal(error);
  const { code, message } = error as { code?: unknown; message?: unknown };
  throw new EditorRefusal(String(message), typeof code === "string" ? code : undefined);
}

/** The answer; rejects with EditorBusyError where there is none in time. */
export async function unlessBusy<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof DeadlineError ? new EditorBusyError() : error;
  }
}

/** Lua takes a field that is undefined for vim.NIL. */
export function withoutUndefined<T extends object>(params: T): T {
  const given = Object.entries(params).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as T;
}
