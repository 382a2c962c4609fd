import { attempt } from "../lib/errors";
import { isObject, type JsonObject, shownJson } from "../lib/json";
import { cutText } from "../lib/visible";
import type { Line } from "./file";

/**
 * Translates a remote's path to the file on this machine, if the file is shared. `folder` is a folder on this machine,
 * to which a relative path belongs.
 */
export type ToHost = (path: string, folder?: string) => string | undefined;

/** In characters, of text that we show unchanged. */
const MAX_RAW = 8 * 1024;

/**
 * A part of an entry; a conversation's file has one entry per line (measured with 2.1.330; the CLI documents no
 * format). We show unexpected entries unchanged.
 */
export type Item =
  | { kind: "prompt"; text: string; at: number | undefined }
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string }
  | ToolCall
  | ToolResult
  /** Another event: a line, perhaps with details. */
  | { kind: "note"; title: string; text: string }
  /** Claude uses this model from here on. The name shows how large the context is. */
  | { kind: "model"; name: string }
  | { kind: "usage"; usage: Usage };

export interface ToolCall {
  kind: "tool";
  id: string;
  name: string;
  input: JsonObject;
  /** Claude's working folder at that time. */
  folder: string | undefined;
  /** In ms since the epoch. */
  at: number | undefined;
  /** Set if Claude runs elsewhere. */
  toHost?: ToHost | undefined;
}

export interface ToolResult {
  kind: "result";
  /** The id of its call. */
  id: string;
  text: string;
  failed: boolean;
  /** The same as the `tool_response` that hooks receive. */
  detail: JsonObject;
  /** In ms since the epoch. */
  at: number | undefined;
  /** The CLI's prompt_id. */
  prompt: string | undefined;
}

interface Usage {
  model: string;
  /** Tokens of the model's input. Its answer counts with the next request, as in the CLI. */
  tokens: number;
}

/** Entries about the CLI's internals, which do not interest a reader. */
const SILENT = new Set([
  ...["mode", "permission-mode", "atis-latch", "tools-used", "last-prompt", "queue-operation"],
  ...["api-request", "api-request-blob", "api-request-shape", "cost-state"],
  ...["file-history-snapshot", "file-history-delta", "custom-title", "ai-title", "summary"],
  ...["progress", "agent-name", "tag", "pr-link"],
]);

const SILENT_SYSTEM = new Set(["turn_duration", "stop_hook_summary", "init"]);

/** Parses a line. A line that is not an entry becomes a note with its text, so one bad entry hides no other. */
export function itemsOf(line: Line, toHost?: ToHost): Item[] {
  if (typeof line !== "string") {
    return [raw(`An entry of ${Math.round(line.skipped / 1e6)} MB is not shown`, "")];
  }
  if (line.trim() === "") return [];
  try {
    const entry = parsed(line);
    if (!entry) return [raw("A line that is not an entry", line)];
    const items = fromEntry(entry, line);
    return items.map((item) => (item.kind === "tool" ? { ...item, toHost } : item));
  } catch {
    return [raw("An entry that cannot be read", line)];
  }
}

function fromEntry(entry: JsonObject, line: string): Item[] {
  const type = string(entry.type) ?? "";
  if (SILENT.has(type)) return [];
  if (type === "assistant") return fromAssistant(entry);
  if (type === "user") return fromUser(entry);
  if (type === "attachment") return fromAttachment(entry);
  if (type === "system") return fromSystem(entry, line);
  return [raw(`Entry "${type}"`, line)];
}

/** JSON can name half of a surrogate pair. It has no UTF-8 form, so Neovim could not receive it. */
const HALF = /\\u[dD][89a-fA-F]/;

function parsed(line: string): JsonObject | undefined {
  const wellFormed = (_: string, value: unknown) =>
    typeof value === "string" ? value.toWellFormed() : value;
  return object(attempt(() => (HALF.test(line) ? JSON.parse(line, wellFormed) : JSON.parse(line))));
}

function fromAssistant(entry: JsonObject): Item[] {
  const message = object(entry.message) ?? {};
  const items = blocks(message.content).flatMap((block): Item[] => {
    if (block.type === "text") return textItem("text", block.text);
    if (block.type === "thinking") return textItem("thinking", block.thinking);
    if (block.type === "redacted_thinking") return [];
    if (block.type === "tool_use") {
      const [id, name] = [string(block.id) ?? "", string(block.name) ?? "Tool"];
      const [folder, at] = [string(entry.cwd), timeOf(entry)];
      return [{ kind: "tool", id, name, input: object(block.input) ?? {}, folder, at }];
    }
    return [raw(`Block "${string(block.type)}"`, shownJson(block))];
  });
  const usage = usageOf(message);
  return usage ? [...items, { kind: "usage", usage }] : items;
}

function textItem(kind: "text" | "thinking", value: unknown): Item[] {
  const text = string(value);
  return text === undefined || text.trim() === "" ? [] : [{ kind, text }];
}

const TOKENS = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

function usageOf(message: JsonObject): Usage | undefined {
  const usage = object(message.usage);
  const model = string(message.model);
  // The CLI writes such messages in Claude's name.
  if (!usage || model === undefined || model.startsWith("<")) return undefined;
  const counts = TOKENS.map((name) => usage[name]).filter((count) => typeof count === "number");
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  return tokens > 0 && Number.isSafeInteger(tokens) ? { model, tokens } : undefined;
}

/** The CLI puts a long paste between these tags. */
const PASTED = /<\/?pasted_content [^>]*>\n?/g;

/** The prompt that the user typed or pasted, or the command; undefined if the CLI wrote the entry. */
export function promptIn(entry: JsonObject): string | undefined {
  if (!["user", "attachment"].includes(`${entry.type}`) || entry.isMeta || entry.isSidechain)
    return undefined;
  const items = entry.type === "user" ? fromUser(entry) : fromAttachment(entry);
  const prompt = items.find((item) => item.kind === "prompt");
  return prompt && /^\s*<(?!pasted_content )/.test(prompt.text)
    ? undefined
    : prompt?.text.replaceAll(PASTED, "");
}

function fromUser(entry: JsonObject): Item[] {
  const content = object(entry.message)?.content;
  if (entry.isCompactSummary === true) {
    return [{ kind: "note", title: "Summary of the compacted conversation", text: plain(content) }];
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
    at: timeOf(entry),
    prompt: string(entry.promptId),
  }));
  const text = plain(all.filter(({ type }) => type !== "tool_result"));
  if (text.trim() === "") return items;
  return [...items, ...fromText(entry, text)];
}

/** The CLI attaches messages and events to the result of a call while Claude works. */
function fromAttachment(entry: JsonObject): Item[] {
  const { type, prompt, identity } = object(entry.attachment) ?? {};
  const name = type === "model" ? string(object(identity)?.modelId) : undefined;
  if (name !== undefined) return [{ kind: "model", name }];
  const text = type === "queued_command" ? plain(prompt) : "";
  return text.trim() === "" ? [] : fromText(entry, text);
}

/** The CLI puts its own text between these tags. */
const COMMAND = /^<command-name>(.*?)<\/command-name>/s;
const OUTPUT = /^<(?:local-command|bash)-(?:stdout|stderr)>/;
const OUTPUT_TAGS = /(?:<\/?(?:local-command|bash)-(?:stdout|stderr)>)+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one.
const COLOUR = /\u001b\[[\d;:]*m/g;
const BASH_INPUT = /^<bash-input>(.*?)<\/bash-input>/s;
const INTERRUPTED = /^\[Request interrupted by user( for tool use)?\]$/;

function fromText(entry: JsonObject, text: string): Item[] {
  const trimmed = text.replace(/^<command-message>.*?<\/command-message>\s*/s, "").trim();
  const at = timeOf(entry);
  const command = COMMAND.exec(trimmed)?.[1];
  if (command !== undefined) {
    const words = within(trimmed, "command-args") ?? "";
    return [{ kind: "prompt", text: `${command} ${words}`.trim(), at }];
  }
  const shell = BASH_INPUT.exec(trimmed)?.[1];
  if (shell !== undefined) return [{ kind: "prompt", text: `!${shell}`, at }];
  if (INTERRUPTED.test(trimmed)) return [{ kind: "note", title: "Interrupted", text: "" }];
  if (trimmed.startsWith("<local-command-caveat>")) return [];
  if (OUTPUT.test(trimmed)) return outputOf(trimmed);
  const isNotification = trimmed.startsWith("<task-notification>");
  const notification = isNotification ? within(trimmed, "summary") : undefined;
  if (notification !== undefined) return [{ kind: "note", title: notification, text: trimmed }];
  if (entry.isMeta === true) return [{ kind: "note", title: "For Claude", text: trimmed }];
  return [{ kind: "prompt", text, at }];
}

function outputOf(output: string): Item[] {
  const text = output.replaceAll(OUTPUT_TAGS, "\n").replaceAll(COLOUR, "").trim();
  if (text === "") return [];
  const [title, rest] = text.includes("\n") ? ["Output", text] : [text, ""];
  return [{ kind: "note", title, text: rest }];
}

/** The text inside a tag. A regular expression would take quadratic time for many unclosed tags. */
function within(text: string, tag: string): string | undefined {
  const from = text.indexOf(`<${tag}>`);
  const to = text.indexOf(`</${tag}>`, from);
  return from >= 0 && to >= 0 ? text.slice(from + tag.length + 2, to) : undefined;
}

function fromSystem(entry: JsonObject, line: string): Item[] {
  const subtype = string(entry.subtype) ?? "";
  if (SILENT_SYSTEM.has(subtype)) return [];
  if (subtype === "compact_boundary") {
    const tokens = object(entry.compactMetadata)?.preTokens;
    const count = typeof tokens === "number" ? ` (${tokens} tokens)` : "";
    return [{ kind: "note", title: `Compacted${count}`, text: "" }];
  }
  const text = string(entry.content);
  if (text === undefined) return [raw(`Entry "system ${subtype}"`, line)];
  if (COMMAND.test(text) || OUTPUT.test(text)) return fromText(entry, text);
  const [title = "", ...rest] = text.trim().split("\n");
  return [{ kind: "note", title, text: rest.join("\n") }];
}

function raw(title: string, text: string): Item {
  return { kind: "note", title, text: cutText(text, MAX_RAW) };
}

/** The text of a message's content, whichever blocks it has. */
function plain(content: unknown): string {
  if (typeof content === "string") return content;
  return blocks(content)
    .map((block) => {
      if (block.type === "text") return string(block.text) ?? "";
      if (block.type === "tool_reference") return string(block.tool_name) ?? "";
      return block.type === "image" ? "[Image]" : cutText(shownJson(block), MAX_RAW);
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
