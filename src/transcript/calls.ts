import { type JsonObject, own } from "../lib/json";
import { isAbsolute, relative, resolve } from "../lib/platform";
import { beginning } from "../lib/visible";
import type { ToolCall } from "./entries";

/** Characters; no path is longer. */
const MAX_TEXT = 4_096;
/** The last line that Neovim can address. */
const MAX_LINE = 2 ** 31 - 1;

/** The subject of a tool call. */
export interface Call {
  /** The tool: "Read", "Grep", "Bash". */
  name: string;
  /** Follows the name: a path with lines, a command or a pattern. It may contain line ends. */
  subject: string;
  /** Absolute: the file, or the folder that Claude searches. */
  path?: string;
  /** 1-based lines of the file, the last one included. */
  first?: number;
  last?: number;
  /** How the trail lists the call; the trail omits calls without it. */
  act?: "read" | "searched" | "edited";
}

type Described = Omit<Call, "name">;

const TOOLS: Record<string, (input: JsonObject, folder: string) => Described> = {
  Read: (input, folder) => {
    const [first, count] = [input.offset, input.limit].map(lineNumber);
    const last = count === undefined ? undefined : lineNumber((first ?? 1) + count - 1);
    const lines = first === undefined && last === undefined ? {} : { first: first ?? 1 };
    return fileCall(input.file_path, folder, { ...lines, ...(last && { last }), act: "read" });
  },
  Edit: (input, folder) => fileCall(input.file_path, folder, { act: "edited" }),
  Write: (input, folder) => fileCall(input.file_path, folder, { act: "edited" }),
  NotebookEdit: (input, folder) => fileCall(input.notebook_path, folder, { act: "edited" }),
  Grep: searchCall,
  Glob: searchCall,
  Bash: ({ command }) => ({ subject: text(command) }),
  Agent: ({ description }) => ({ subject: text(description) }),
  WebFetch: ({ url }) => ({ subject: text(url) }),
  WebSearch: ({ query }) => ({ subject: text(query) }),
  ToolSearch: ({ query }) => ({ subject: text(query) }),
  Skill: ({ skill, args }) => ({ subject: `${text(skill)} ${text(args)}`.trim() }),
};

const MCP = /^mcp__(.+?)__(.+)$/s;

/** The call's `path` is missing if it names no file on this machine. */
export function callOf(tool: ToolCall): Call {
  const call = describedCall(tool);
  if (!tool.toHost || call.path === undefined) return call;
  const path = tool.toHost(call.path);
  return path === undefined ? { name: call.name, subject: call.subject } : { ...call, path };
}

function describedCall({ name, input, folder = "/" }: ToolCall): Call {
  const describe = own(TOOLS, name);
  if (describe) return { name, ...describe(input, folder) };
  const [, server, tool] = MCP.exec(name) ?? [];
  const shown = server === undefined ? name : `${server}: ${tool}`;
  const keys = ["path", "file_path", "filePath", "file"];
  const path = keys.map((key) => text(input[key])).find(Boolean);
  if (path !== undefined) return { name: shown, ...fileCall(path, folder, {}) };
  return { name: shown, subject: text(Object.values(input).find(isText)) };
}

function fileCall(given: unknown, folder: string, rest: Partial<Described>): Described {
  const path = text(given);
  if (path === "") return { subject: "" };
  const { first, last } = rest;
  const lines = first === undefined ? "" : last === undefined ? `:${first}` : `:${first}-${last}`;
  return { subject: shortPath(path, folder) + lines, path: resolve(folder, path), ...rest };
}

function searchCall(input: JsonObject, folder: string): Described {
  const [pattern, path] = [text(input.pattern), text(input.path)];
  const place = path === "" ? "" : ` in ${shortPath(path, folder)}`;
  return { subject: pattern + place, path: resolve(folder, path), act: "searched" };
}

/** Relative to Claude's folder if the path lies below that folder. */
function shortPath(path: string, folder: string): string {
  const short = isAbsolute(path) ? relative(folder, path) : path;
  return short === "" || short.startsWith("..") ? path : short;
}

/** A valid line number, capped at MAX_LINE; undefined for any other value. */
export function lineNumber(value: unknown): number | undefined {
  const isLine = Number.isInteger(value) && Number(value) >= 1;
  return isLine ? Math.min(Number(value), MAX_LINE) : undefined;
}

function text(value: unknown): string {
  return isText(value) ? beginning(value, MAX_TEXT) : "";
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
