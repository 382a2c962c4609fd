import { existsSync } from "node:fs";
import { conversationsFolder, conversationsOf } from "../claude/config-dir";
import { isRunning, runningSessions } from "../claude/running-sessions";
import { attempt } from "../lib/errors";
import { isObject, type JsonObject, parseJson } from "../lib/json";
import { isBelow, namesIn, newestFiles } from "../lib/paths";
import { basename, join, normal } from "../lib/platform";
import { readRange, withRegular } from "../lib/read-regular";
import { visibleLine } from "../lib/visible";
import { promptIn } from "../transcript/entries";
import { worktreesAround } from "./worktrees";

/** A conversation with Claude that can be resumed. */
export interface Conversation {
  id: string;
  title: string;
  /** The last folder. `--resume` finds the conversation only there. */
  cwd: string;
  /** Whether that folder still exists. */
  exists: boolean;
  branch?: string;
  bytes: number;
  /** When the file was last written, in ms since the epoch. */
  at: number;
}

const MAX_CONVERSATIONS = 200;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/;
/** The CLI cuts longer names of project folders here and appends a hash (2.1.330). */
const MAX_NAME = 200;

/**
 * The past conversations in these folders and in all work trees of their repositories, the newest first. (The CLI's list
 * has those of one folder.) Leaves out running sessions: two CLIs that resume one session would write to the same file.
 */
export function pastConversations(folders: readonly string[]): Conversation[] {
  const places = [...new Set(folders.flatMap(worktreesAround))];
  const running = new Set(
    runningSessions()
      .filter(isRunning)
      .map(({ sessionId }) => sessionId),
  );
  const result: Conversation[] = [];
  for (const { path, at } of transcripts(places)) {
    if (result.length === MAX_CONVERSATIONS) break;
    const id = basename(path, ".jsonl");
    const transcript = running.has(id) ? undefined : readTranscript(path);
    const cwd = transcript?.folders.findLast((folder) => places.some((at) => isBelow(folder, at)));
    if (!transcript || cwd === undefined) continue;
    const { folders: _, ...rest } = transcript;
    result.push({ id, cwd, exists: existsSync(cwd), at, ...rest });
  }
  return result;
}

const MAX_PROMPTS = 200;
/** Limits of conversations, and of their bytes. Prompts are a small part of those (2.1.332). */
const [MAX_READ, MAX_READ_BYTES] = [20, 32 * 1024 * 1024];
/** In characters, of a prompt. */
const MAX_PROMPT = 20_000;

/**
 * The last prompts of the user in the newest conversations of these folders, the newest first, each once. The CLI's own
 * history.jsonl lacks prompts of a mod, and the text of long pastes (2.1.332).
 */
export function lastPrompts(folders: readonly string[]): string[] {
  const prompts: { text: string; at: number }[] = [];
  let left = MAX_READ_BYTES;
  for (const { path } of transcripts(folders).slice(0, MAX_READ)) {
    const end = attempt(() => withRegular(path, (file, bytes) => tailOf(file, bytes, left)));
    left -= end?.length ?? 0;
    for (const entry of lines(end ?? Buffer.alloc(0), false, mayBePrompt)) {
      const isHere = folders.some((folder) => isBelow(normal(`${entry.cwd}`), folder));
      const prompt = isHere ? wordsIn(entry)?.trim().toWellFormed() : undefined;
      if (!prompt || prompt.length > MAX_PROMPT) continue;
      prompts.push({ text: prompt, at: Date.parse(`${entry.timestamp}`) || 0 });
    }
  }
  prompts.sort((one, other) => other.at - one.at);
  return [...new Set(prompts.map(({ text }) => text))].slice(0, MAX_PROMPTS);
}

/** Saves parsing results of tools, which may be long. In a prompt these quotes would follow a backslash. */
function mayBePrompt(line: string): boolean {
  return /"(?:user|queued_command)"/.test(line) && !line.includes('"tool_use_id"');
}

/** The transcripts of these folders and perhaps of others, the newest first. */
function transcripts(places: readonly string[]): { path: string; at: number }[] {
  const root = conversationsFolder();
  const prefixes = places.map((place) => conversationsOf(place).slice(0, MAX_NAME));
  const paths = namesIn(root)
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)))
    .flatMap((name) => namesIn(join(root, name)).map((file) => join(root, name, file)));
  return newestFiles(paths.filter((path) => ID.test(basename(path))));
}

/** A conversation may have many MB, so we read only its beginning and its end. */
const PART_BYTES = 65_536;
const MAX_TITLE = 120;

/**
 * Reads the CLI's `ID.jsonl`, which has one entry per line (measured with 2.1.330). Undefined if the file is unreadable,
 * or if the user wrote no prompt.
 */
function readTranscript(path: string) {
  const parts = bothEnds(path);
  if (!parts) return undefined;
  const { head, tail, bytes } = parts;
  const first = firstOf(lines(head, true), (entry) => text(entry.cwd));
  const said = firstOf(lines(head, true), wordsIn) ?? firstOf(lines(head, true), promptIn);
  const title = titleIn(tail) ?? titleIn(head) ?? said;
  if (first === undefined || title === undefined) return undefined;
  const branch = firstOf(lines(tail, false), (entry) => text(entry.gitBranch));
  const last = firstOf(lines(tail, false), (entry) => text(entry.cwd));
  return {
    // The first folder and the last.
    folders: [...new Set([first, last ?? first].map(normal))],
    title: visibleLine(title, MAX_TITLE),
    ...(branch !== undefined && { branch: visibleLine(branch, MAX_TITLE) }),
    bytes,
  };
}

/** The user's title comes first, then those of the CLI. */
const TITLES: [type: string, field: string][] = [
  ["custom-title", "customTitle"],
  ["summary", "summary"],
  ["ai-title", "aiTitle"],
];

function titleIn(part: Buffer): string | undefined {
  for (const [type, field] of TITLES) {
    if (!part.includes(`"${type}"`)) continue;
    const hasType = (line: string) => line.includes(`"${type}"`);
    const found = firstOf(lines(part, false, hasType), (entry) =>
      entry.type === type ? text(entry[field]) : undefined,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A prompt that is not a command of the CLI. */
function wordsIn(entry: JsonObject): string | undefined {
  const { content } = (entry.message ?? {}) as { content?: unknown };
  const isOwn = typeof content === "string" && /^\s*<command-name>/.test(content);
  return isOwn ? undefined : promptIn(entry);
}

/** The entries of the lines that `has` accepts, forward or backward. */
function* lines(
  part: Buffer,
  forward: boolean,
  has: (line: string) => boolean = () => true,
): Generator<JsonObject> {
  const all = part.toString().split("\n");
  for (const line of forward ? all : all.reverse()) {
    // Skip lines that are cut off or damaged.
    const entry = line.startsWith("{") && has(line) ? parseJson(line) : undefined;
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

function bothEnds(path: string) {
  const read = (file: number, bytes: number) => {
    const head = readRange(file, 0, Math.min(bytes, PART_BYTES));
    return { head, tail: bytes > PART_BYTES ? tailOf(file, bytes, PART_BYTES) : head, bytes };
  };
  return attempt(() => withRegular(path, read));
}

function tailOf(file: number, bytes: number, most: number): Buffer {
  return readRange(file, Math.max(0, bytes - most), bytes);
}
