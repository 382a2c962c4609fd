import { type Item, itemsOf, type ToHost, type ToolCall, type ToolResult } from "./entries";
import { type Line, TranscriptFile } from "./file";
import { type Block, markdown, type Result, resultOf } from "./markdown";

/** A file may have many MB: so much of it is shown first, and then at a time. */
const PART_BYTES = 64 * 1024;

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

  /** The lines that were added; undefined if there are none. Throws where the file cannot be read. */
  update(): Update | undefined {
    const { lines, restarted } = this.#file.appended();
    if (restarted) return { restarted, block: this.#begin(lines), results: [] };
    if (lines.length === 0) return undefined;
    const items = lines.flatMap(this.#items);
    const results = items.flatMap((item) => (item.kind === "result" ? this.#late(item) : []));
    // A result that is shown is kept for no call any more.
    const taken = new Set(results.map(({ call }) => call));
    const left = items.filter((item) => item.kind !== "result" || !taken.has(item.id));
    return { block: this.#shown(left), results };
  }

  #begin(lines: readonly Line[]): Block {
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
