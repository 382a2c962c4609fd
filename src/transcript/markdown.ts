import { extname } from "node:path";
import { counted } from "../lib/counted";
import { isObject } from "../lib/json";
import { visible } from "../lib/visible";
import { type Call, callOf } from "./calls";
import type { Item, ToolCall, ToolResult } from "./entries";

/** Lines of the buffer, what folds in them, and what the lines are about. */
export interface Block {
  lines: string[];
  /** A character for each line: ">" begins a fold, "1" is in it, "0" in none. */
  folds: string;
  marks: Mark[];
}

export interface Mark {
  /** Line of the block, from 0. */
  row: number;
  /** A prompt: when it was sent, in ms since 1970. */
  prompt?: number;
  /** Its lines. */
  rows?: number;
  /** A call of a tool, by its id; its result may follow later. */
  call?: string;
  /** What came of a call, with which its line ends. */
  note?: string;
  failed?: boolean;
  /** The place that the line is about: absolute, 1-based. */
  path?: string;
  line?: number;
  /** A subagent's conversation. */
  agent?: string;
  /** The result of this call is cut here. */
  cut?: string;
}

const MOST_LINES = 200;
/** Neovim draws longer ones slowly. */
const MOST_COLUMNS = 2_000;
const MOST_TEXT = 2 * 1024 * 1024;

const FOLDED = "▸";

class Builder {
  readonly block: Block = { lines: [], folds: "", marks: [] };

  /** Adds lines; `fold` is what they are to a fold. */
  add(lines: readonly string[], fold: "0" | ">" | "1" = "0"): void {
    this.block.lines.push(...lines);
    this.block.folds += fold.repeat(lines.length);
  }

  mark(mark: Omit<Mark, "row">): void {
    this.block.marks.push({ row: this.block.lines.length, ...mark });
  }

  append({ lines, folds, marks }: Block): void {
    const first = this.block.lines.length;
    this.block.lines.push(...lines);
    this.block.folds += folds;
    for (const mark of marks) this.block.marks.push({ ...mark, row: first + mark.row });
  }
}

/**
 * The items as Markdown, what Claude said as it said it. A call has the result below it that `results` has of
 * it; a result alone is left out. An empty line ends each item.
 */
export function markdown(items: readonly Item[], results: ReadonlyMap<string, ToolResult>): Block {
  const builder = new Builder();
  for (const item of items) addItem(builder, item, results);
  return builder.block;
}

function addItem(builder: Builder, item: Item, results: ReadonlyMap<string, ToolResult>): void {
  switch (item.kind) {
    case "prompt": {
      const [first = "", ...rest] = textLines(item.text.trim());
      builder.mark({ prompt: item.at ?? 0, rows: 1 + rest.length });
      builder.add([`❯ ${first}`, ...rest, ""]);
      return;
    }
    case "text":
      builder.add([...textLines(item.text.trim()), ""]);
      return;
    case "thinking":
      return addFold(builder, "Thinking", textLines(item.text.trim()));
    case "note":
      return addFold(builder, visible(item.title), fenced(item.text));
    case "tool":
      return addCall(builder, item, results.get(item.id));
    default:
      return;
  }
}

function addFold(builder: Builder, title: string, lines: readonly string[]): void {
  if (lines.length === 0) return builder.add([`*${title}*`, ""]);
  builder.add([`${FOLDED} *${title}*`], ">");
  builder.add(lines, "1");
  builder.add([""]);
}

function addCall(builder: Builder, tool: ToolCall, result: ToolResult | undefined): void {
  const call = callOf(tool);
  const body = result && resultOf(tool, result);
  const { path, first } = call;
  builder.mark({
    call: tool.id,
    ...(path !== undefined && { path }),
    ...(first !== undefined && { line: first }),
    ...body?.about,
  });
  builder.add([header(call) + (body ? `  ${body.about.note}` : "")], ">");
  if (body) builder.append(body.block);
  builder.add([""]);
}

function header({ name, subject }: Call): string {
  const [first = "", ...rest] = visible(subject).trim().split("\n");
  const short = first.slice(0, MOST_COLUMNS) + (rest.length > 0 ? " …" : "");
  const code = short.includes("`") ? short : `\`${short}\``;
  return `${FOLDED} ${visible(name)}${short === "" ? "" : ` ${code}`}`;
}

/** What came of a call: its lines, which belong to the call's fold, and what they say of the call itself. */
export interface Result {
  block: Block;
  about: Pick<Mark, "failed" | "line" | "agent"> & { note: string };
}

export function resultOf(tool: ToolCall, result: ToolResult): Result {
  const { detail, failed } = result;
  const hunks = hunksOf(result);
  const builder = new Builder();
  const { text, language, count } = failed
    ? { text: result.text, language: "", count: undefined }
    : contentOf(tool, result, hunks);
  const lines = fenced(text, language);
  const cut = lines.length - MOST_LINES;
  if (cut > 0) lines.splice(MOST_LINES, cut - 1);
  builder.add([...inputLines(tool), ...lines], "1");
  if (cut > 0) {
    builder.mark({ cut: tool.id });
    builder.add([`… ${counted(cut - 1, "more line")}`], "1");
  }
  const agent = typeof detail.agentId === "string" ? detail.agentId : undefined;
  const line = lineOf(result).first;
  return {
    block: builder.block,
    about: {
      note: failed ? "failed" : (count ?? counted(lineCount(text), "line")),
      ...(failed && { failed }),
      ...(line !== undefined && { line }),
      ...(agent !== undefined && { agent }),
    },
  };
}

interface Content {
  text: string;
  language: string;
  /** How much it is, where that is not its lines. */
  count?: string;
}

function contentOf(tool: ToolCall, result: ToolResult, hunks: readonly Hunk[]): Content {
  const { detail, text } = result;
  if (hunks.length > 0) {
    const lines = hunks.flatMap((hunk) => [hunkHead(hunk), ...hunk.lines]);
    const added = lines.filter((line) => line.startsWith("+")).length;
    const removed = lines.filter((line) => line.startsWith("-")).length;
    return { text: lines.join("\n"), language: "diff", count: `+${added} −${removed}` };
  }
  const path = callOf(tool).path ?? "";
  const language = extname(path).slice(1);
  const file = isObject(detail.file) ? detail.file : {};
  if (tool.name === "Read" && typeof file.content === "string") {
    return { text: file.content, language };
  }
  if (tool.name === "Write" && typeof tool.input.content === "string") {
    return { text: tool.input.content, language };
  }
  return { text, language: "" };
}

/** A command of several lines, which its header has not room for; the arguments of an unknown tool. */
function inputLines({ name, input }: ToolCall): string[] {
  const { command, prompt } = input;
  if (typeof command === "string") return command.includes("\n") ? fenced(command, "sh") : [];
  if (name.startsWith("mcp__")) return fenced(JSON.stringify(input, undefined, 2), "json");
  return typeof prompt === "string" ? fenced(prompt, "markdown") : [];
}

interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}

function hunksOf({ detail }: ToolResult): Hunk[] {
  return isHunks(detail.structuredPatch) ? detail.structuredPatch : [];
}

/** The lines that an edit has changed, 1-based, from the first to the last. */
export function lineOf(result: ToolResult): { first?: number; last?: number } {
  const [begin, end] = [hunksOf(result)[0], hunksOf(result).at(-1)];
  if (!begin || !end) return {};
  const before = begin.lines.findIndex((line) => !line.startsWith(" "));
  const first = begin.newStart + Math.max(0, before);
  const behind = end.lines.toReversed().findIndex((line) => !line.startsWith(" "));
  return { first, last: Math.max(first, end.newStart + end.newLines - 1 - Math.max(0, behind)) };
}

function isHunks(value: unknown): value is Hunk[] {
  return (
    Array.isArray(value) &&
    value.every(
      (hunk) => isObject(hunk) && typeof hunk.newStart === "number" && Array.isArray(hunk.lines),
    )
  );
}

function hunkHead({ oldStart, oldLines, newStart, newLines }: Hunk): string {
  return `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
}

/** As a code block, whose fence is longer than any in it; nothing of nothing. */
function fenced(text: string, language = ""): string[] {
  if (text.trim() === "") return [];
  const lines = textLines(text.replace(/\n+$/, ""));
  const longest = Math.max(2, ...lines.map((line) => line.match(/^\s*(`+)/)?.[1]?.length ?? 0));
  const fence = "`".repeat(longest + 1);
  return [fence + (/^\w+$/.test(language) ? language : ""), ...lines, fence];
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}

function textLines(text: string): string[] {
  const shown = text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
  return visible(shown.replaceAll("\r\n", "\n"))
    .split("\n")
    .map((line) => (line.length > MOST_COLUMNS ? `${line.slice(0, MOST_COLUMNS)}…` : line));
}
