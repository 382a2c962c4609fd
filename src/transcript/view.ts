import { type Item, itemsOf, type ToolCall, type ToolResult } from "./entries";
import { type Line, TranscriptFile } from "./file";
import { type Block, markdown, type Result, resultOf } from "./markdown";

/** So much of a file is shown first, and then at a time. */
const PART_BYTES = 64 * 1024;

/** What a conversation has become since it was looked at last. */
export interface Update {
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
  /** Calls whose results have yet to come. */
  readonly #open = new Map<string, ToolCall>();

  constructor(readonly path: string) {
    this.#file = new TranscriptFile(path);
  }

  /** Reads what was added. Throws where the file cannot be read. */
  update(): Update | undefined {
    const { lines, restarted } = this.#file.appended();
    if (restarted) return { restarted, block: this.#begin(lines), results: [] };
    if (lines.length === 0) return undefined;
    const items = lines.flatMap(itemsOfLine);
    const late = items.flatMap((item) => (item.kind === "result" ? this.#late(item) : []));
    return { block: this.#shown(items), results: late };
  }

  #begin(lines: readonly Line[]): Block {
    this.#results.clear();
    this.#open.clear();
    return this.#shown([...this.#file.earlier(PART_BYTES), ...lines].flatMap(itemsOfLine));
  }

  #late(result: ToolResult): Update["results"] {
    const call = this.#open.get(result.id);
    this.#open.delete(result.id);
    return call ? [{ call: call.id, ...resultOf(call, result) }] : [];
  }

  /** The part before all that was shown; undefined where there is none. */
  earlier(): Block | undefined {
    while (!this.#file.isWhole) {
      const block = this.#shown(this.#file.earlier(PART_BYTES).flatMap(itemsOfLine));
      if (block.lines.length > 0) return block;
    }
    return undefined;
  }

  /** The whole text of a result, wherever it stands. */
  whole(call: string): string | undefined {
    const line = this.#file.find(`"tool_use_id":"${call}"`);
    const items = line === undefined ? [] : itemsOf(line);
    return items.flatMap((item) =>
      item.kind === "result" && item.id === call ? item.text : [],
    )[0];
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

function itemsOfLine(line: Line): Item[] {
  if (typeof line === "string") return itemsOf(line);
  const title = `An entry of ${Math.round(line.skipped / 1e6)} MB is not shown`;
  return [{ kind: "note", title, text: "" }];
}
