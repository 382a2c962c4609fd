/**
 * The declaration that a line is in, by indentation, as git finds the heading of a hunk: it holds for
 * every file, without a question to a language server for each.
 */
export function enclosing(lines: readonly string[], index: number): string | undefined {
  let indent = indentOf(lines[index] ?? "");
  for (let i = index - 1; i >= 0 && index - i < FARTHEST && indent > 0; i--) {
    const line = lines[i] ?? "";
    if (line.trim() === "" || indentOf(line) >= indent) continue;
    const name = declared(line);
    if (name) return name;
    indent = indentOf(line);
  }
  return undefined;
}

const FARTHEST = 1_000;
const MOST_LENGTH = 300;

const KEYWORD =
  /\b(?:function\*?|class|interface|struct|enum|trait|impl|module|namespace|def|fn|func|type|object|record|protocol|extension|sub)(?:<[^>]*>)?\s+(?:\([^)]*\)\s*)?(?:<[^>]*>\s*)?([\p{L}\w$.:#]+)/u;
const ASSIGNED =
  /([\p{L}\w$.:#]+)\s*(?::[^=]+)?[:=]\s*(?:async\s+)?(?:function\b|\([^)]*\)[^=]*=>)/u;
const TEST = /^\s*(describe|it|test|suite|context)(?:\.\w+)*\(\s*(["'`])(.*?)\2/;
const METHOD = /^[\s\w<>[\],:*&~#@$?.]*?([\p{L}\w$#~]+)\s*(?:<[^>]*>)?\([^;]*$/u;
const CONTROL = new Set(
  "if for while switch catch return else with match do try until when elif throw await new".split(
    " ",
  ),
);

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function declared(full: string): string | undefined {
  const line = full.slice(0, MOST_LENGTH);
  const test = TEST.exec(line);
  if (test) return `${test[1]}(${JSON.stringify(test[3])})`;
  const name = KEYWORD.exec(line)?.[1] ?? ASSIGNED.exec(line)?.[1];
  if (name) return name.replace(/[.:#]+$/, "");
  const method = METHOD.exec(line);
  if (!method?.[1] || CONTROL.has(method[1]) || CONTROL.has(firstWord(line))) return undefined;
  return /[{:]\s*$|\)\s*(?:->.*|const)?\s*$|\($|,\s*$/.test(line) && !/[=.]\s*\w+\(/.test(line)
    ? method[1]
    : undefined;
}

function firstWord(line: string): string {
  return /[\w]+/.exec(line)?.[0] ?? "";
}
