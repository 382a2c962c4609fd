import { readPrivateFile } from "./private-folder";
import { readRegular } from "./read-regular";

const MOST_DEPTH = 16;

export type JsonObject = Record<string, unknown>;

/** The JSON object in a file, with or without a byte order mark; undefined if there is none. */
export function readJson(path: string, mostBytes?: number): JsonObject | undefined {
  try {
    return parseObject(readRegular(path, mostBytes).toString());
  } catch {
    return undefined;
  }
}

/** The same of a file that only we can have written. */
export function readPrivateJson(path: string): JsonObject | undefined {
  try {
    return parseObject(readPrivateFile(path) ?? "");
  } catch {
    return undefined;
  }
}

/** Throws a SyntaxError. */
function parseObject(text: string): JsonObject | undefined {
  const content: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  return isObject(content) ? content : undefined;
}

/** The JSON of what may be nested without an end: JSON.stringify would take seconds, and give up. */
export function shownJson(value: unknown): string {
  return JSON.stringify(withoutDepth(value, MOST_DEPTH), undefined, 2);
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
