import { attempt } from "./errors";
import { readPrivateFile } from "./private-folder";
import { readText } from "./read-regular";

const MAX_DEPTH = 16;

export type JsonObject = Record<string, unknown>;

/** The JSON object in a file, which may begin with a byte order mark; undefined for anything else. */
export function readJson(path: string, maxBytes?: number): JsonObject | undefined {
  return parseObject(readText(path, maxBytes));
}

/** The same for a file that only our own user can have written. */
export function readPrivateJson(path: string): JsonObject | undefined {
  return parseObject(readPrivateFile(path));
}

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  return attempt(() => JSON.parse(text));
}

/** The JSON object in a text, which may begin with a byte order mark; undefined for anything else. */
export function parseObject(text = ""): JsonObject | undefined {
  const content = parseJson(text.replace(/^\uFEFF/, ""));
  return isObject(content) ? content : undefined;
}

/** The JSON of a value that may be nested very deeply. JSON.stringify alone would take seconds, and fail. */
export function shownJson(value: unknown): string {
  return JSON.stringify(withoutDepth(value, MAX_DEPTH), undefined, 2);
}

function withoutDepth(value: unknown, left: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (left === 0) return "…";
  if (Array.isArray(value)) return value.map((one) => withoutDepth(one, left - 1));
  const entries = Object.entries(value).map(([key, one]) => [key, withoutDepth(one, left - 1)]);
  return Object.fromEntries(entries);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** No message has this many levels. Bun takes 9 s to write 100,000 levels, and then fails. */
const MAX_LEVELS = 64;

export function isDeep(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeep(one, levels - 1));
}

/** The value for an untrusted name. Ignores inherited properties such as `constructor`. */
export function own<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
