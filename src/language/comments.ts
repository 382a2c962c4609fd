import { extname } from "node:path";

/** Where in a text a word stands: `text` in a file that is no program. */
export type Context = "code" | "comment" | "string" | "text";

interface Syntax {
  line: string[];
  block?: [start: string, end: string];
  quotes: string[];
}

const C: Syntax = { line: ["//"], block: ["/*", "*/"], quotes: ['"', "'", "`"] };
const HASH: Syntax = { line: ["#"], quotes: ['"""', "'''", '"', "'"] };
const LUA: Syntax = { line: ["--"], block: ["--[[", "]]"], quotes: ['"', "'"] };

const BY_EXTENSION: Record<string, Syntax> = {
  ...all(
    "c h cc cpp cxx hpp hh m mm cs java kt kts scala go rs swift dart js jsx mjs cjs ts tsx mts cts php zig proto groovy vue svelte",
    C,
  ),
  ...all("py pyi rb sh bash zsh fish pl pm r ex exs jl nim cr tcl cmake mk", HASH),
  ...all("lua sql hs elm adb ads vhd", LUA),
};

/** The context of each of the offsets, which are in order. */
export function contexts(path: string, text: string, offsets: readonly number[]): Context[] {
  const syntax = BY_EXTENSION[extname(path).slice(1).toLowerCase()];
  if (!syntax) return offsets.map(() => "text");
  const scanner = new Scanner(text, syntax);
  return offsets.map((offset) => scanner.at(offset));
}

function all(extensions: string, syntax: Syntax): Record<string, Syntax> {
  return Object.fromEntries(extensions.split(" ").map((name) => [name, syntax]));
}

/** Reads a text once, from one comment or string to the next. */
class Scanner {
  #from = 0;
  #till = 0;
  #context: Context = "code";
  readonly #starts: RegExp;
  /** Up to where none of these quotes is closed: a line may have a megabyte of them. */
  readonly #unclosed = new Map<string, number>();

  constructor(
    readonly text: string,
    readonly syntax: Syntax,
  ) {
    const { line, block, quotes } = syntax;
    // The longer ones first: `--[[` begins with `--`.
    const starts = [...(block ? [block[0]] : []), ...line, ...quotes];
    this.#starts = new RegExp(starts.map((start) => RegExp.escape(start)).join("|"), "g");
  }

  at(offset: number): Context {
    while (offset >= this.#till) this.#next();
    return offset < this.#from ? "code" : this.#context;
  }

  /** Finds the next comment or string behind the present one. */
  #next(): void {
    this.#starts.lastIndex = this.#till;
    const found = this.#starts.exec(this.text);
    if (!found) {
      this.#from = this.#till = Number.POSITIVE_INFINITY;
      return;
    }
    const [start] = found;
    const { block, line } = this.syntax;
    this.#from = found.index;
    const behind = found.index + start.length;
    if (start === block?.[0]) this.#end("comment", this.#find(block[1], behind));
    else if (line.includes(start)) this.#end("comment", this.#find("\n", behind));
    else this.#end("string", this.#quoted(start, behind));
  }

  #end(context: Context, till: number): void {
    this.#context = context;
    this.#till = till;
  }

  #find(end: string, from: number): number {
    const at = this.text.indexOf(end, from);
    return at < 0 ? this.text.length + 1 : at + end.length;
  }

  /** A quote that its line does not close, such as an apostrophe or a lifetime, begins no string. */
  #quoted(quote: string, from: number): number {
    if (from <= (this.#unclosed.get(quote) ?? -1)) return from;
    const spansLines = quote === "`" || quote.length === 3;
    let at = from;
    for (; at < this.text.length; at++) {
      if (this.text[at] === "\\") at++;
      else if (this.text.startsWith(quote, at)) return at + quote.length;
      else if (this.text[at] === "\n" && !spansLines) break;
    }
    this.#unclosed.set(quote, at);
    return from;
  }
}
