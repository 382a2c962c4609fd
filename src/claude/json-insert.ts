import { findNodeAtLocation, type JSONPath, type Node, parseTree } from "jsonc-parser";

/**
 * Inserts `value` at the end of the object or list at `parent` (an object needs `key`). All that is
 * there keeps its bytes (jsonc-parser's `modify` reformats what is beside it); what is added looks
 * like its surroundings: on lines of its own where they are, else in the same line. Undefined if
 * there is no such place.
 */
export function insertLast(
  text: string,
  parent: JSONPath,
  key: string | undefined,
  value: unknown,
): string | undefined {
  const root = parseTree(text);
  const node = root && findNodeAtLocation(root, parent);
  if (!node || (node.type !== "object" && node.type !== "array")) return undefined;
  const name = key === undefined ? "" : `${JSON.stringify(key)}: `;
  const style = styleOf(text);
  const last = node.children?.at(-1);
  if (!last) return fill(text, node, name, value, style);
  const outer = indentBefore(text, last.offset);
  const added =
    outer === undefined
      ? `, ${name}${inOneLine(value)}`
      : `,${style.eol}${outer}${name}${inLines(value, outer, style)}`;
  const end = last.offset + last.length;
  return text.slice(0, end) + added + text.slice(end);
}

/**
 * Takes the last of several entries out of a list or an object, with the comma before it: what
 * `insertLast` has put there. Undefined if there is none at `path`, or it is not the last of several.
 */
export function removeLast(text: string, path: JSONPath): string | undefined {
  const root = parseTree(text);
  const found = root && findNodeAtLocation(root, path);
  const node = found?.parent?.type === "property" ? found.parent : found;
  const siblings = node?.parent?.children ?? [];
  const before = siblings.at(-2);
  if (!node || !before || siblings.at(-1) !== node) return undefined;
  return text.slice(0, before.offset + before.length) + text.slice(node.offset + node.length);
}

interface Style {
  eol: string;
  /** One step of indentation. */
  unit: string;
}

/** As the file has it: its line ends, and the indentation of its first indented line. */
function styleOf(text: string): Style {
  return {
    eol: text.includes("\r\n") ? "\r\n" : "\n",
    unit: /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ",
  };
}

/** An empty object or list becomes one of several lines. */
function fill(text: string, node: Node, name: string, value: unknown, style: Style): string {
  const outer = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", node.offset - 1) + 1))?.[0] ?? "";
  const inner = outer + style.unit;
  const open = text.charAt(node.offset);
  const close = text.charAt(node.offset + node.length - 1);
  const body = `${style.eol}${inner}${name}${inLines(value, inner, style)}${style.eol}${outer}`;
  return text.slice(0, node.offset) + open + body + close + text.slice(node.offset + node.length);
}

/** The indentation of what begins its line at `offset`; undefined if something is before it. */
function indentBefore(text: string, offset: number): string | undefined {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const before = text.slice(start, offset);
  return start > 0 && before.trim() === "" ? before : undefined;
}

function inLines(value: unknown, outer: string, { eol, unit }: Style): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", eol + outer);
}

/** With blanks after colons and commas, as it is usually written. */
function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value);
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}: ${inOneLine(item)}`).join(", ")}}`;
}
