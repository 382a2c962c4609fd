import { isObject, type JsonObject, parseJson } from "../lib/json";
import { readRange, withRegular } from "../lib/read-regular";

/** Of a conversation's file, which may have many MB, its beginning and its end are read. */
const PART_BYTES = 65_536;
const MOST_TITLE = 120;

/** What a conversation's file says of it. */
export interface Transcript {
  /** Where it began, and where it was last. */
  folders: string[];
  title: string;
  branch?: string;
  bytes: number;
}

/**
 * Reads `ID.jsonl` of the Claude CLI (measured with 2.1.330): an entry a line, which may hold anything.
 * Undefined for what cannot be read, or in which the user has said nothing.
 */
export function readTranscript(path: string): Transcript | undefined {
  const parts = bothEnds(path);
  if (!parts) return undefined;
  const { head, tail, bytes } = parts;
  const first = firstOf(lines(head, true), (entry) => text(entry.cwd));
  const title = titleIn(tail) ?? titleIn(head) ?? firstOf(lines(head, true), promptOf);
  if (first === undefined || title === undefined) return undefined;
  const branch = firstOf(lines(tail, false), (entry) => text(entry.gitBranch));
  const last = firstOf(lines(tail, false), (entry) => text(entry.cwd));
  return {
    folders: [...new Set([first, last ?? first])],
    title: oneLine(title),
    ...(branch !== undefined && { branch: oneLine(branch) }),
    bytes,
  };
}

/** In the order of their weight: what the user called it, and what the CLI did. */
const TITLES: [type: string, field: string][] = [
  ["custom-title", "customTitle"],
  ["summary", "summary"],
  ["ai-title", "aiTitle"],
];

function titleIn(part: Buffer): string | undefined {
  for (const [type, field] of TITLES) {
    if (!part.includes(`"${type}"`)) continue;
    const found = firstOf(lines(part, false, `"${type}"`), (entry) =>
      entry.type === type ? text(entry[field]) : undefined,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What the user typed. What begins with `<` the CLI has put there: a command, a reminder. */
function promptOf(entry: JsonObject): string | undefined {
  if (entry.type !== "user" || entry.isMeta === true || entry.isSidechain === true)
    return undefined;
  const { content } = (entry.message ?? {}) as { content?: unknown };
  const parts = Array.isArray(content) ? content : [{ type: "text", text: content }];
  const typed = parts.map((part) => (part?.type === "text" ? text(part.text) : undefined));
  return typed.find((one) => one !== undefined && !one.trimStart().startsWith("<"));
}

/** The entries of the lines that hold `needle`, in their order or from the last one on. */
function* lines(part: Buffer, forward: boolean, needle = ""): Generator<JsonObject> {
  const all = part.toString().split("\n");
  for (const line of forward ? all : all.reverse()) {
    // One that is cut off, or damaged, is none.
    const entry = line.startsWith("{") && line.includes(needle) ? parseJson(line) : undefined;
    if (isObject(entry)) yield entry;
  }
}

function firstOf(entries: Iterable<JsonObject>, get: (entry: JsonObject) => string | undefined) {
  for (const entry of entries) {
    const value = get(entry);
    if (value !== undefined) return value;
  }
  return undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Nor does it turn the direction of what is beside it. */
function oneLine(title: string): string {
  const line = title.replaceAll(/[\p{Cc}\s\p{Bidi_Control}]+/gu, " ").trim();
  const characters = [...line.slice(0, 2 * MOST_TITLE)];
  return characters.length > MOST_TITLE ? `${characters.slice(0, MOST_TITLE).join("")}…` : line;
}

function bothEnds(path: string): { head: Buffer; tail: Buffer; bytes: number } | undefined {
  try {
    return withRegular(path, (file, bytes) => {
      const head = readRange(file, 0, Math.min(bytes, PART_BYTES));
      const tail = bytes > PART_BYTES ? readRange(file, bytes - PART_BYTES, bytes) : head;
      return { head, tail, bytes };
    });
  } catch {
    return undefined;
  }
}
