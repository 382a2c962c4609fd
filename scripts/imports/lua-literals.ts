/** A string literal of a Lua file. */
export interface Literal {
  text: string;
  /** 1-based. */
  line: number;
  /** The code around it without comments, up to the next literals. */
  before: string;
  after: string;
}

const TOKEN =
  /--\[(=*)\[[\s\S]*?\]\1\]|--[^\n]*|"((?:\\[\s\S]|[^"\\])*)"|'((?:\\[\s\S]|[^'\\])*)'|\[(=*)\[\n?([\s\S]*?)\]\4\]/g;

/** The string literals of a Lua file, with their escapes. */
export function luaLiterals(source: string): Literal[] {
  const literals: Literal[] = [];
  let line = 1;
  let code = "";
  let end = 0;
  for (const match of source.matchAll(TOKEN)) {
    const between = source.slice(end, match.index);
    end = match.index + match[0].length;
    line += count(between);
    code += between;
    const text = match[2] ?? match[3] ?? match[5];
    if (text !== undefined) {
      const previous = literals.at(-1);
      if (previous) previous.after = code;
      literals.push({ text, line, before: code, after: "" });
      code = "";
    }
    line += count(match[0]);
  }
  const last = literals.at(-1);
  if (last) last.after = code + source.slice(end);
  return literals;
}

function count(text: string): number {
  return text.split("\n").length - 1;
}
