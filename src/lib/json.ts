import { readPrivateFile } from "./private-folder";
import { readRegular } from "./read-regular";

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

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
