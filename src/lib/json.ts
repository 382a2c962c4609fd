import { attempt } from "./errors";
import { readPrivateFile } from "./private-folder";
import { readText } from "./read-regular";

const MAX_DEPTH = 16;

export type JsonObject = Record<string, unknown>;

/** The JSON object in a file, with or without a byte order mark; undefined for anything else. */
export function readJson(path: string, mostBytes?: number): JsonObject | undefined {
  return parseObject(readText(path, mostBytes));
}

/** The same of a file that only we can have written. */
export function readPrivateJson(path: string): JsonObject | undefined {
  return parseObject(readPrivateFile(path));
}

/** The value of a text in JSON; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  return attempt(() => JSON.parse(text));
}

/** Parses an object, with or without a byte order mark; undefined if the text is anything else. */
export function parseObject(text = ""): JsonObject | undefined {
  const content = parseJson(text.replace(/^\uFEFF/, ""));
  return isObject(content) ? content : undefined;
}

/** The JSON of what may be nested without an end: JSON.stringify would take seconds, and give up. */
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

/** More than any message has: to write 100,000 levels takes Bun 9 s, and then fails. */
const MAX_LEVELS = 64;

/** Whether values are nested deeper than in any well-formed message. */
export function isDeep(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeep(one, levels - 1));
}

/** The value under a name that comes from outside; never what every object inherits (`constructor`). */
export function own<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
