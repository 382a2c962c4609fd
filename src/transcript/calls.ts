import { isAbsolute, relative, resolve } from "node:path";
import { beginning } from "../lib/visible";
import type { ToolCall } from "./entries";

/** Characters; no path is longer. */
const MAX_TEXT = 4_096;
const MOST = 2 ** 31 - 1;

/** The subject of a tool call. */
export interface Call {
  /** Claude's action: "Read", "Grep", "Bash". */
  name: string;
  /** Text behind the name: a path with lines, a command, a pattern; it may have line ends. */
  subject: string;
  /** Absolute; a file, or the folder that is searched. */
  path?: string;
  /** 1-based lines of it, the last one included. */
  first?: number;
  last?: number;
  /** How the trail lists the call; the trail omits calls without it. */
  act?: "read" | "searched" | "edited";
}

type Describe = (input: Record<string, unknown>, folder: string) => Omit<Call, "name">;

const TOOLS: Record<string, Describe> = {
  Read: (input, folder) => {
    const [first, count] = [input.offset, input.limit].map(lineNumber);
    const last = count === undefined ? undefined : lineNumber((first ?? 1) + count - 1);
    const lines = first === undefined && last === undefined ? {} : { first: first ?? 1 };
    return ofFile(input.file_path, folder, { ...lines, ...(last && { last }), act: "read" });
  },
  Edit: (input, folder) => ofFile(input.file_path, folder, { act: "edited" }),
  Write: (input, folder) => ofFile(input.file_path, folder, { act: "edited" }),
  NotebookEdit: (input, folder) => ofFile(input.notebook_path, folder, { act: "edited" }),
  Grep: (input, folder) => search(input, folder),
  Glob: (input, folder) => search(input, folder),
  Bash: ({ command }) => ({ subject: text(command) }),
  Agent: ({ description }) => ({ subject: text(description) }),
  WebFetch: ({ url }) => ({ subject: text(url) }),
  WebSearch: ({ query }) => ({ subject: text(query) }),
  ToolSearch: ({ query }) => ({ subject: text(query) }),
  Skill: ({ skill, args }) => ({ subject: `${text(skill)} ${text(args)}`.trim() }),
};

const MCP = /^mcp__(.+?)__(.+)$/s;

/** Leaves `path` out if it names no file of this machine. */
export function callOf(tool: ToolCall): Call {
  const call = describedCall(tool);
  if (!tool.toHost || call.path === undefined) return call;
  const path = tool.toHost(call.path);
  return path === undefined ? { name: call.name, subject: call.subject } : { ...call, path };
}

function describedCall({ name, input, folder = "/" }: ToolCall): Call {
  const describe = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (describe) return { name, ...describe(input, folder) };
  const [, server, tool] = MCP.exec(name) ?? [];
  const shown = server === undefined ? name : `${server}: ${tool}`;
  const keys = ["path", "file_path", "filePath", "file"];
  const path = keys.map((key) => text(input[key])).find(Boolean);
  if (path !== undefined) return { name: shown, ...ofFile(path, folder, {}) };
  return { name: shown, subject: text(Object.values(input).find(isText)) };
}

function ofFile(
  given: unknown,
  folder: string,
  rest: Pick<Call, "first" | "last" | "act">,
): Omit<Call, "name"> {
  const path = text(given);
  if (path === "") return { subject: "" };
  const { first, last } = rest;
  const lines = first === undefined ? "" : last === undefined ? `:${first}` : `:${first}-${last}`;
  return { subject: shortPath(path, folder) + lines, path: resolve(folder, path), ...rest };
}

function search(input: Record<string, unknown>, folder: string): Omit<Call, "name"> {
  const [pattern, path] = [text(input.pattern), text(input.path)];
  const place = path === "" ? "" : ` in ${shortPath(path, folder)}`;
  return { subject: pattern + place, path: resolve(folder, path), act: "searched" };
}

/** Relative to Claude's folder if it lies below it. */
function shortPath(path: string, folder: string): string {
  const short = isAbsolute(path) ? relative(folder, path) : path;
  return short === "" || short.startsWith("..") ? path : short;
}

/** A line number from 1, as far as Neovim counts; undefined for any other number. */
export function lineNumber(value: unknown): number | undefined {
  return Number.isInteger(value) && Number(value) >= 1 ? Math.min(Number(value), MOST) : undefined;
}

function text(value: unknown): string {
  return isText(value) ? beginning(value, MAX_TEXT) : "";
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
