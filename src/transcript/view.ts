import { beginning } from "../lib/visible";
import { type Item, itemsOf, type ToHost, type ToolCall, type ToolResult } from "./entries";
import { type Line, TranscriptFile } from "./file";
import { type Block, markdown, type Result, resultOf } from "./markdown";

/** So much of a file is shown first, and then at a time. */
const PART_BYTES = 64 * 1024;
/** Of a result in a buffer of its own. */
const MAX_WHOLE = 2 * 1024 * 1024;

/** What a conversation has become since it was looked at last. */
interface Update {
  /** The first part, or all that was shown before is none of it: see TranscriptFile. */
  restarted?: true;
  /** Follows at the end. */
  block: Block;
  /** Of calls that were shown without a result. */
  results: { call: string; block: Block; about: Result["about"] }[];
}

/** A conversation on screen: its end first, then what comes, and what was before. */
export class View {
  readonly #file: TranscriptFile;
  /** Results of calls that are further up. */
  readonly #results = new Map<string, ToolResult>();
  /** What was added and is not shown yet, in parts. */
  readonly #added: Line[][] = [];
  /** Calls whose results have yet to come. */
  readonly #open = new Map<string, ToolCall>();
  readonly #items = (line: Line) => itemsOf(line, this.toHost);

  /** `toHost`: where Claude runs elsewhere. */
  constructor(
    readonly path: string,
    readonly toHost?: ToHost,
  ) {
    this.#file = new TranscriptFile(path);
  }

  /** The next part of what was added, until that is undefined. Throws where the file cannot be read. */
  update(): Update | undefined {
    const { lines, restarted } = this.#file.appended();
    if (restarted) return { restarted, block: this.#begin(lines), results: [] };
    for (const part of partsOf(lines)) this.#added.push(part);
    const items = this.#added.shift()?.flatMap(this.#items);
    if (!items) return undefined;
    const results = items.flatMap((item) => (item.kind === "result" ? this.#late(item) : []));
    // A result that is shown is kept for no call any more.
    const taken = new Set(results.map(({ call }) => call));
    const left = items.filter((item) => item.kind !== "result" || !taken.has(item.id));
    return { block: this.#shown(left), results };
  }

  #begin(lines: readonly Line[]): Block {
    this.#added.length = 0;
    this.#results.clear();
    this.#open.clear();
    return this.#shown([...this.#file.earlier(PART_BYTES), ...lines].flatMap(this.#items));
  }

  #late(result: ToolResult): Update["results"] {
    const call = this.#open.get(result.id);
    this.#open.delete(result.id);
    return call ? [{ call: call.id, ...resultOf(call, result) }] : [];
  }

  /** The part before all that was shown; undefined where there is none. */
  earlier(): Block | undefined {
    while (!this.#file.isWhole) {
      const block = this.#shown(this.#file.earlier(PART_BYTES).flatMap(this.#items));
      if (block.lines.length > 0) return block;
    }
    return undefined;
  }

  /** The whole text of a result, wherever it stands. */
  whole(call: string): string | undefined {
    const text = this.#file.find(
      `"tool_use_id":${JSON.stringify(call)}`,
      (line) =>
        itemsOf(line)
          .filter((item) => item.kind === "result")
          .find(({ id }) => id === call)?.text,
    );
    if (text === undefined || text.length <= MAX_WHOLE) return text;
    const size = (text.length / MAX_WHOLE).toFixed(1);
    return `${beginning(text, MAX_WHOLE)}\n… the rest is not shown: all of it is ${size} times as long`;
  }

  /** A result of a call that was not read yet is kept for it. */
  #shown(items: readonly Item[]): Block {
    for (const item of items) if (item.kind === "result") this.#results.set(item.id, item);
    const block = markdown(items, this.#results);
    for (const item of items) {
      if (item.kind === "tool" && !this.#results.delete(item.id)) this.#open.set(item.id, item);
    }
    return block;
  }
}

/** An entry becomes more than it is: lines around it, and what the editor keeps of each. */
const ENTRY_BYTES = 200;

function partsOf(lines: readonly Line[]): Line[][] {
  const parts: Line[][] = [];
  let room = 0;
  for (const line of lines) {
    const size = ENTRY_BYTES + (typeof line === "string" ? line.length : 0);
    if (size > room) {
      parts.push([]);
      room = PART_BYTES;
    }
    parts.at(-1)?.push(line);
    room = Math.max(0, room - size);
  }
  return parts;
}
