/** A variable of a module that changes while Neovim runs. */
export interface MutableVariable {
  name: string;
  /** 1-based. */
  line: number;
}

const COMMENT_OR_STRING =
  /--\[(=*)\[[\s\S]*?\]\1\]|--[^\n]*|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'|\[(=*)\[[\s\S]*?\]\2\]/g;

/**
 * The variables at the top of a Lua file that something assigns to or into later: `count = 1`,
 * `by_path[name] = file`, `state.timer = nil`, `table.insert(waiting, diff)`. Classes and the module's
 * own table count only where a function writes a field of theirs that is not a method.
 */
export function mutableVariables(source: string): MutableVariable[] {
  const code = source.replace(COMMENT_OR_STRING, (text) => text.replace(/[^\n]/g, " "));
  const lines = code.split("\n");
  return lines.flatMap((text, index) => {
    if (/^local [\w, ]+= (?:require\(|vim\.(?:api|fn|uv|bo|wo|lsp)\b)/.test(text)) return [];
    const names = /^local ([\w, ]+?)\s*(?:=|$)/.exec(text)?.[1]?.split(/\s*,\s*/) ?? [];
    return names
      .filter((name) => name !== "function" && isWritten(name, lines.slice(index + 1)))
      .map((name) => ({ name, line: index + 1 }));
  });
}

/**
 * Lines of functions are indented; what stands at the top runs once, when the module is loaded. A line
 * that ends with a comma is a field of a table: `path = name,`.
 */
function isWritten(name: string, lines: readonly string[]): boolean {
  const write = new RegExp(
    [
      `^\\s+(?:[\\w.\\[\\], ]+,\\s*)?${name}(?:\\.\\w+|\\[.*?\\]+)*(?:\\s*,[\\w.\\[\\], ]+)?\\s*=[^=]`,
      `\\btable\\.(?:insert|remove|sort)\\(${name}\\b`,
    ].join("|"),
  );
  const isStatement = (line: string) => /^\s/.test(line) && !/^\s*local\b|,\s*$/.test(line);
  return lines.some((line) => isStatement(line) && write.test(line));
}
