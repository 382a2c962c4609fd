import { isObject, shownJson } from "../lib/json";
import { extname } from "../lib/platform";
import { beginning, counted, cutText, visible, visibleLine } from "../lib/visible";
import { type Call, callOf, lineNumber } from "./calls";
import type { Item, ToolCall, ToolResult } from "./entries";

/** Lines for the buffer, with their folds and marks. */
export interface Block {
  lines: string[];
  /** One character per line: ">" begins a fold, "1" is inside a fold, "0" outside. */
  folds: string;
  marks: Mark[];
}

interface Mark {
  /** Line of the block, from 0. */
  row: number;
  /** When the prompt was sent, in ms since the epoch. */
  prompt?: number;
  /** The number of the prompt's lines. */
  rows?: number;
  /** The id of a tool call, whose result may follow later. */
  call?: string;
  /** The outcome of a call, at the end of its line. */
  note?: string;
  failed?: boolean;
  /** The file that the line is about, absolute. */
  path?: string;
  /** A line of that file, 1-based. */
  line?: number;
  /** The id of a subagent, which has a conversation of its own. */
  agent?: string;
}

/** Lines of a result, a note or an input. */
const MAX_LINES = 1_000;
/** Lines of a message. */
const MAX_SAID = 2_000;
/** Neovim draws longer lines slowly. */
const MAX_COLUMNS = 2_000;
/** In characters. */
const MAX_TEXT = 256 * 1024;
const MAX_TITLE = 200;

const FOLDED = "▸";

class Builder {
  readonly block: Block = { lines: [], folds: "", marks: [] };

  add(lines: readonly string[], fold: "0" | ">" | "1" = "0"): void {
    for (const line of lines) this.block.lines.push(line);
    this.block.folds += fold.repeat(lines.length);
  }

  mark(mark: Omit<Mark, "row">): void {
    this.block.marks.push({ row: this.block.lines.length, ...mark });
  }
}

/**
 * Renders items as Markdown; Claude's own text stays unchanged. Each call is followed by its result from `results`, and
 * results without a call are left out. An empty line ends each item.
 */
export function markdown(items: readonly Item[], results: ReadonlyMap<string, ToolResult>): Block {
  const builder = new Builder();
  for (const item of items) addItem(builder, item, results);
  return builder.block;
}

function addItem(builder: Builder, item: Item, results: ReadonlyMap<string, ToolResult>): void {
  switch (item.kind) {
    case "prompt": {
      const lines = saidLines(`❯ ${item.text.trim()}`);
      builder.mark({ prompt: item.at ?? 0, rows: Math.min(lines.length, MAX_SAID) });
      return builder.add([...lines, ""]);
    }
    case "text":
      return builder.add([...saidLines(item.text), ""]);
    case "thinking":
      return addFold(builder, "Thinking", saidLines(item.text));
    case "note":
      return addFold(builder, item.title, fenced(item.text));
    case "tool":
      return addCall(builder, item, results.get(item.id));
    default:
      return;
  }
}

function addFold(builder: Builder, title: string, lines: readonly string[]): void {
  const shown = `*${visibleLine(title, MAX_TITLE)}*`;
  if (lines.length === 0) return builder.add([shown, ""]);
  builder.add([`${FOLDED} ${shown}`], ">");
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
  if (body) builder.add(body.block.lines, "1");
  builder.add([""]);
}

function header({ name, subject }: Call): string {
  const [first = "", ...others] = visible(subject).trim().split("\n");
  const short = beginning(first, MAX_COLUMNS) + (others.length > 0 ? " …" : "");
  const code = short.includes("`") ? short : `\`${short}\``;
  return `${FOLDED} ${visibleLine(name, MAX_TITLE)}${short === "" ? "" : ` ${code}`}`;
}

/** Renders a call's result: lines for the fold of the call, and the fields of the call's mark. */
export function resultOf(tool: ToolCall, result: ToolResult) {
  const { detail, failed } = result;
  const hunks = hunksOf(result);
  const builder = new Builder();
  const { text, language, count } = failed
    ? { text: result.text, language: "", count: undefined }
    : contentOf(tool, result, hunks);
  builder.add([...inputLines(tool), ...fenced(text, language)], "1");
  const agent = typeof detail.agentId === "string" ? detail.agentId : undefined;
  const line = changedLines(result).first;
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

/** `count` replaces the number of lines in the summary. */
function contentOf(
  tool: ToolCall,
  { detail, text }: ToolResult,
  hunks: readonly Hunk[],
): { text: string; language: string; count?: string } {
  if (hunks.length > 0) {
    const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      ...lines,
    ]);
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

/** The input that the header does not show: a command of several lines, or the arguments of an MCP tool. */
function inputLines({ name, input }: ToolCall): string[] {
  const { command, prompt } = input;
  const [text, language] =
    typeof command === "string"
      ? [command.includes("\n") ? command : "", "sh"]
      : name.startsWith("mcp__")
        ? [shownJson(input), "json"]
        : [typeof prompt === "string" ? prompt : "", "markdown"];
  return fenced(text, language);
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

/** The first and last line that an edit changed, 1-based. */
export function changedLines(result: ToolResult): { first?: number; last?: number } {
  const [begin, end] = [hunksOf(result)[0], hunksOf(result).at(-1)];
  if (!begin || !end) return {};
  const before = begin.lines.findIndex((line) => !line.startsWith(" "));
  const first = lineNumber(begin.newStart + Math.max(0, before)) ?? 1;
  const behind = end.lines.toReversed().findIndex((line) => !line.startsWith(" "));
  const last = lineNumber(end.newStart + end.newLines - 1 - Math.max(0, behind)) ?? 1;
  return { first, last: Math.max(first, last) };
}

function isHunks(value: unknown): value is Hunk[] {
  // An empty file begins at line 0.
  const isCount = (one: unknown) => one === 0 || lineNumber(one) === one;
  return (
    Array.isArray(value) &&
    value.every(
      (hunk) =>
        isObject(hunk) &&
        [hunk.oldStart, hunk.oldLines, hunk.newStart, hunk.newLines].every(isCount) &&
        Array.isArray(hunk.lines) &&
        hunk.lines.every((line) => typeof line === "string"),
    )
  );
}

/** A code block, with a fence longer than any fence in the text; no lines for a blank text. */
function fenced(text: string, language = ""): string[] {
  if (text.trim() === "") return [];
  let end = text.length;
  while (text[end - 1] === "\n") end--;
  const { lines, rest } = textLines(text.slice(0, end), MAX_LINES);
  const ticks = lines.map((line) => line.match(/^\s*(`+)/)?.[1]?.length ?? 0);
  const fence = "`".repeat(ticks.reduce((most, one) => Math.max(most, one), 2) + 1);
  return [fence + (/^\w+$/.test(language) ? language : ""), ...lines, fence, ...rest];
}

/** The lines of an answer that Claude has not finished, as its entry will have them. */
export function writtenLines(text: string): string[] {
  return text.trim() === "" ? [] : [...saidLines(text), ""];
}

/** Closes a code block that was cut or interrupted; otherwise everything after the message would be code. */
function saidLines(text: string): string[] {
  const { lines, rest } = textLines(text.trim(), MAX_SAID);
  let open: string | undefined;
  for (const line of lines) {
    const [, fence = "", info] = /^\s*(`{3,}(?!.*`)|~{3,})(.*)$/.exec(line) ?? [];
    const isEnd = open !== undefined && fence.startsWith(open.trim()) && info?.trim() === "";
    if (isEnd) open = undefined;
    else if (fence !== "") open ??= line.slice(0, line.indexOf(fence) + fence.length);
  }
  return [...lines, ...(open === undefined ? [] : [open]), ...rest];
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}

/** The visible lines of a text, and a `rest` that counts lines left out. */
function textLines(text: string, most: number) {
  const all = text.split("\n");
  const first = all.slice(0, most).join("\n");
  const lines = visible(cutText(first, MAX_TEXT).replaceAll("\r\n", "\n"))
    .split("\n")
    .map((line) => cutText(line, MAX_COLUMNS));
  const more = all.length - lines.length;
  return { lines, rest: more > 0 ? [`… ${counted(more, "more line")}`] : [] };
}
