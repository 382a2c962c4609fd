import { readRegular } from "./read-regular";

export type JsonObject = Record<string, unknown>;

/** The JSON object in a file, with or without a byte order mark; undefined if there is none. */
export function readJson(path: string, mostBytes?: number): JsonObject | undefined {
  try {
    const content: unknown = JSON.parse(
      readRegular(path, mostBytes)
        .toString()
        .replace(/^\uFEFF/, ""),
    );
    return isObject(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
