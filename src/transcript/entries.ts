import { isObject, type JsonObject } from "../lib/json";

/**
 * What the CLI has written into a conversation's file, an entry a line (measured with 2.1.330, and promised by
 * nobody): whatever is not as expected is shown as it is.
 */
export type Item =
  | { kind: "prompt"; text: string; at: number | undefined }
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string }
  | ToolCall
  | ToolResult
  /** What happened beside that, in a line, and perhaps what belongs to it. */
  | { kind: "note"; title: string; text: string }
  | { kind: "usage"; usage: Usage };

export interface ToolCall {
  kind: "tool";
  id: string;
  name: string;
  input: JsonObject;
  /** The folder in which Claude was then. */
  folder: string | undefined;
}

export interface ToolResult {
  kind: "result";
  /** Of its call. */
  id: string;
  text: string;
  failed: boolean;
  /** What hooks get as `tool_response`. */
  detail: JsonObject;
}

export interface Usage {
  model: string;
  /** Tokens that the model had before it and has written. */
  tokens: number;
}

/** Entries about the CLI's own work, which say nothing to a reader. */
const SILENT = new Set([
  ...["mode", "permission-mode", "atis-latch", "tools-used", "last-prompt", "queue-operation"],
  ...["api-request", "api-request-blob", "api-request-shape", "cost-state", "attachment"],
  ...["file-history-snapshot", "file-history-delta", "custom-title", "ai-title", "summary"],
  ...["progress", "agent-name", "tag", "pr-link"],
]);

const SILENT_SYSTEM = new Set(["turn_duration", "stop_hook_summary", "init"]);

/** The items of a line. A line that is no entry is a note with its text. */
export function itemsOf(line: string): Item[] {
  if (line.trim() === "") return [];
  const entry = parsed(line);
  if (!entry) return [{ kind: "note", title: "A line that is no entry", text: line }];
  const type = string(entry.type) ?? "";
  if (SILENT.has(type)) return [];
  if (type === "assistant") return fromAssistant(entry);
  if (type === "user") return fromUser(entry);
  if (type === "system") return fromSystem(entry);
  return [unknown(`Entry "${type}"`, entry)];
}

function parsed(line: string): JsonObject | undefined {
  try {
    return object(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function fromAssistant(entry: JsonObject): Item[] {
  const message = object(entry.message) ?? {};
  const items = blocks(message.content).flatMap((block): Item[] => {
    if (block.type === "text") return textItem("text", block.text);
    if (block.type === "thinking") return textItem("thinking", block.thinking);
    if (block.type === "redacted_thinking") return [];
    if (block.type === "tool_use") {
      const [id, name] = [string(block.id) ?? "", string(block.name) ?? "Tool"];
      const folder = string(entry.cwd);
      return [{ kind: "tool", id, name, input: object(block.input) ?? {}, folder }];
    }
    return [unknown(`Block "${block.type}"`, block)];
  });
  const usage = usageOf(message);
  return usage ? [...items, { kind: "usage", usage }] : items;
}

function textItem(kind: "text" | "thinking", value: unknown): Item[] {
  const text = string(value);
  return text === undefined || text.trim() === "" ? [] : [{ kind, text }];
}

const TOKENS = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens",
];

function usageOf(message: JsonObject): Usage | undefined {
  const usage = object(message.usage);
  const model = string(message.model);
  // What the CLI itself says in Claude's name.
  if (!usage || model === undefined || model.startsWith("<")) return undefined;
  const counts = TOKENS.map((name) => usage[name]).filter((count) => typeof count === "number");
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  return tokens > 0 ? { model, tokens } : undefined;
}

function fromUser(entry: JsonObject): Item[] {
  const content = object(entry.message)?.content;
  if (entry.isCompactSummary === true) {
    return [{ kind: "note", title: "Summary of what was compacted", text: plain(content) }];
  }
  const all = typeof content === "string" ? [{ type: "text", text: content }] : blocks(content);
  const results = all.filter(({ type }) => type === "tool_result");
  const detail = object(entry.toolUseResult) ?? {};
  const items: Item[] = results.map((block) => ({
    kind: "result",
    id: string(block.tool_use_id) ?? "",
    text: plain(block.content),
    failed: block.is_error === true,
    detail: results.length === 1 ? detail : {},
  }));
  const text = plain(all.filter(({ type }) => type !== "tool_result"));
  if (text.trim() === "") return items;
  return [...items, saidBy(entry, text)];
}

/** What stands between these tags the CLI has put there. */
const COMMAND = /^<command-name>(.*?)<\/command-name>/s;
const COMMAND_ARGUMENTS = /<command-args>(.*?)<\/command-args>/s;
const OUTPUT = /^<local-command-(?:stdout|stderr|caveat)>(.*?)(?:<\/local-command-\w+>)?$/s;
const NOTIFICATION = /^<task-notification>.*?<summary>(.*?)<\/summary>/s;
const BASH_INPUT = /^<bash-input>(.*?)<\/bash-input>/s;
const INTERRUPTED = /^\[Request interrupted by user( for tool use)?\]$/;

function saidBy(entry: JsonObject, text: string): Item {
  const trimmed = text.replace(/^<command-message>.*?<\/command-message>\s*/s, "").trim();
  const at = timeOf(entry);
  const command = COMMAND.exec(trimmed)?.[1];
  if (command !== undefined) {
    const words = COMMAND_ARGUMENTS.exec(trimmed)?.[1] ?? "";
    return { kind: "prompt", text: `${command} ${words}`.trim(), at };
  }
  const shell = BASH_INPUT.exec(trimmed)?.[1];
  if (shell !== undefined) return { kind: "prompt", text: `!${shell}`, at };
  if (INTERRUPTED.test(trimmed)) return { kind: "note", title: "Interrupted", text: "" };
  const output = OUTPUT.exec(trimmed)?.[1];
  if (output !== undefined) return { kind: "note", title: "Output", text: output.trim() };
  const notification = NOTIFICATION.exec(trimmed)?.[1];
  if (notification !== undefined) return { kind: "note", title: notification, text: trimmed };
  if (entry.isMeta === true) return { kind: "note", title: "For Claude", text: trimmed };
  return { kind: "prompt", text, at };
}

function fromSystem(entry: JsonObject): Item[] {
  const subtype = string(entry.subtype) ?? "";
  if (SILENT_SYSTEM.has(subtype)) return [];
  if (subtype === "compact_boundary") {
    const tokens = object(entry.compactMetadata)?.preTokens;
    const count = typeof tokens === "number" ? ` (${tokens} tokens)` : "";
    return [{ kind: "note", title: `Compacted${count}`, text: "" }];
  }
  const text = string(entry.content);
  if (text === undefined) return [unknown(`Entry "system ${subtype}"`, entry)];
  const output = OUTPUT.exec(text.trim())?.[1];
  const [title = "", ...rest] = (output ?? text).trim().split("\n");
  return [{ kind: "note", title, text: rest.join("\n") }];
}

function unknown(title: string, value: JsonObject): Item {
  return { kind: "note", title, text: JSON.stringify(value, undefined, 1) };
}

/** The text of a content, whatever blocks it has. */
function plain(content: unknown): string {
  if (typeof content === "string") return content;
  return blocks(content)
    .map((block) => {
      if (block.type === "text") return string(block.text) ?? "";
      if (block.type === "tool_reference") return string(block.tool_name) ?? "";
      return block.type === "image" ? "[Image]" : JSON.stringify(block);
    })
    .join("\n");
}

function blocks(content: unknown): JsonObject[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function timeOf(entry: JsonObject): number | undefined {
  const time = Date.parse(string(entry.timestamp) ?? "");
  return Number.isNaN(time) ? undefined : time;
}

function object(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

function string(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
