import { type Call, callOf } from "./calls";
import { type Item, itemsOf, type ToolCall, type ToolResult } from "./entries";
import { type Line, TranscriptFile } from "./file";
import { lineOf } from "./markdown";

/** What Claude read, searched or edited. */
export interface Step {
  act: NonNullable<Call["act"]>;
  /** Absolute. */
  path: string;
  /** 1-based lines, the last one included. */
  first?: number;
  last?: number;
  /** As Claude names it: a path with lines, or a pattern. */
  subject: string;
}

const PART_BYTES = 1024 * 1024;

/**
 * The steps of a conversation in their order, subagents' aside: of all of it, of the turn with a number
 * (1 is the first prompt's), or of the last one. Throws where the file cannot be read.
 */
export function trailOf(path: string, turn: number | "last" | "all"): Step[] {
  const file = new TranscriptFile(path);
  const lines = file.appended().lines;
  const items = lines.flatMap(itemsOfLine);
  while (!file.isWhole && !(turn === "last" && items.some(isPrompt))) {
    items.unshift(...file.earlier(PART_BYTES).flatMap(itemsOfLine));
  }
  const results = new Map(items.flatMap((one) => (one.kind === "result" ? [[one.id, one]] : [])));
  const prompts = items.flatMap((item, index) => (isPrompt(item) ? [index] : []));
  const at = turn === "last" ? prompts.length - 1 : turn === "all" ? 0 : turn - 1;
  const [from, to] = turn === "all" ? [0, undefined] : [prompts[at], prompts[at + 1]];
  if (from === undefined) return [];
  return items
    .slice(from, to)
    .flatMap((item) => (item.kind === "tool" ? stepOf(item, results.get(item.id)) : []));
}

/** The step that a call is; none of one that is about no file, or has failed. */
export function stepOf(tool: ToolCall, result?: ToolResult): Step[] {
  const { name: _, act, path, subject, ...lines } = callOf(tool);
  if (act === undefined || path === undefined || result?.failed) return [];
  return [{ act, path, subject, ...lines, ...(act === "edited" && result && lineOf(result)) }];
}

function isPrompt(item: Item): boolean {
  return item.kind === "prompt";
}

function itemsOfLine(line: Line): Item[] {
  return typeof line === "string" ? itemsOf(line) : [];
}
