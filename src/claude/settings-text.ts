import { isDeepStrictEqual } from "node:util";
import {
  applyEdits,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type Node,
  parseTree,
} from "jsonc-parser";
import { Failure, message } from "../lib/errors";
import { isObject } from "../lib/json";
import { type HookGroup, ourHook } from "./hooks";
import { MARKETPLACE, PLUGIN_NAME } from "./names";

type Json = Record<string, unknown>;

const BOM = "\uFEFF";

/** The entries of a settings file that declare our plugin, under whatever name its marketplace has. */
const OURS = {
  extraKnownMarketplaces: new RegExp(`^${MARKETPLACE}$`),
  enabledPlugins: new RegExp(`^${PLUGIN_NAME}@${MARKETPLACE}$`),
};

/** The folder of our plugin, and its name as a marketplace. */
export interface Source {
  folder: string;
  marketplace: string;
}

/**
 * The text of a settings file that enables the plugin from `source`: everything else keeps its bytes, except the hooks
 * that version 0.1 added. `text` is undefined for a new file. Throws Failure for text that is not a JSON object
 * (comments included: Claude Code would not read them either).
 */
export function withPlugin(text: string | undefined, source: Source, name: string): string {
  const editor = new SettingsText(text ?? "", name);
  editor.removeHooks();
  const { folder: path, marketplace } = source;
  editor.put("extraKnownMarketplaces", marketplace, { source: { source: "directory", path } });
  editor.put("enabledPlugins", `${PLUGIN_NAME}@${marketplace}`, true);
  return editor.text;
}

/** The text without our plugin and hooks, and without the lists and objects that this leaves empty. */
export function withoutPlugin(text: string, name: string): string {
  const editor = new SettingsText(text, name);
  editor.removeHooks();
  for (const [parent, name] of Object.entries(OURS)) editor.remove(parent, name);
  return editor.text;
}

/** The text of a settings file, edited in place so that everything else keeps its bytes. */
class SettingsText {
  #text: string;
  readonly #bom: string;

  constructor(
    text: string,
    private readonly name: string,
  ) {
    this.#bom = text.startsWith(BOM) ? BOM : "";
    this.#text = text.slice(this.#bom.length);
    if (this.#text.trim() === "") this.#text = "{}\n";
    this.#value();
  }

  get text(): string {
    return this.#bom + this.#text;
  }

  /** Sets an entry of an object, which is made if it is missing. */
  put(parent: keyof typeof OURS, key: string, value: unknown): void {
    this.remove(parent, OURS[parent], key);
    const entries = this.#value()[parent];
    if (entries === undefined) return this.#insert([], parent, { [key]: value });
    if (!isObject(entries)) throw this.#malformed(parent);
    if (entries[key] === undefined) this.#insert([parent], key, value);
    else if (!isDeepStrictEqual(entries[key], value)) this.#replace([parent, key], value);
  }

  /** Removes the entries with these names, other than `kept`, and an object that is empty then. */
  remove(parent: string, names: RegExp, kept?: string): void {
    const entries = this.#value()[parent];
    if (!isObject(entries)) return;
    const keys = Object.keys(entries);
    const named = keys.filter((key) => names.test(key) && key !== kept);
    if (named.length > 0 && named.length === keys.length) return this.#replace([parent], undefined);
    for (const key of named.reverse()) this.#replace([parent, key], undefined);
  }

  /** The paths of all our hook entries, last first, so that removing one leaves the others'. */
  #ours(): JSONPath[] {
    const found: JSONPath[] = [];
    for (const [event, groups] of Object.entries(this.#hooks())) {
      (groups as HookGroup[]).forEach((group, index) => {
        if (!Array.isArray(group?.hooks)) return;
        group.hooks.forEach((entry, place) => {
          if (ourHook(entry?.command)) found.push(["hooks", event, index, "hooks", place]);
        });
      });
    }
    return found.reverse();
  }

  removeHooks(): void {
    for (const path of this.#ours()) {
      this.#replace(path, undefined);
      // Remove what is empty now: the list of hooks with its group, the event's list, "hooks".
      for (let up = path.slice(0, -1); up.length > 0; up = up.slice(0, -1)) {
        const isGroup = up.length === 3;
        const value = this.#at(up) as object;
        const left = isGroup ? (value as HookGroup).hooks : value;
        if (left !== undefined && Object.keys(left).length > 0) break;
        if (up.length !== 4) this.#replace(up, undefined);
      }
    }
  }

  #insert(parent: JSONPath, key: string | undefined, value: unknown): void {
    const place = this.#at(parent);
    const path = [...parent, key ?? (place as unknown[]).length];
    const expected = changed(this.#value(), path, value);
    this.#set(insertLast(this.#text, parent, key, value), expected);
  }

  /** Without a value, removes the entry and its comma. */
  #replace(path: JSONPath, value: unknown): void {
    const expected = changed(this.#value(), path, value);
    const removed = value === undefined ? removeLast(this.#text, path) : undefined;
    this.#set(removed ?? applyEdits(this.#text, modify(this.#text, path, value, {})), expected);
  }

  /** Sets the text, but only if it parses to `expected`: we must not damage a user's file. */
  #set(text: string | undefined, expected: Json): void {
    this.#text = text ?? this.#text;
    if (!isDeepStrictEqual(this.#value(), expected)) {
      throw new Failure(
        `${this.name} cannot be edited without harm (does a key occur twice?); it was not changed`,
      );
    }
  }

  #value(): Json {
    let value: unknown;
    try {
      value = JSON.parse(this.#text);
    } catch (error) {
      throw new Failure(
        `${this.name} is not valid JSON (${message(error)}; comments are not allowed there): fix it first`,
      );
    }
    if (!isObject(value)) throw new Failure(`${this.name} is not a JSON object: fix it first`);
    return value;
  }

  #hooks(): Record<string, unknown> {
    const { hooks = {} } = this.#value();
    if (!isObject(hooks) || !Object.values(hooks).every(Array.isArray)) {
      throw this.#malformed("hooks");
    }
    return hooks;
  }

  #malformed(key: string): Failure {
    return new Failure(`"${key}" in ${this.name} is not in Claude Code's format: fix it first`);
  }

  #at(path: JSONPath): unknown {
    let value: unknown = this.#value();
    for (const key of path) value = (value as Json)[key as string];
    return value;
  }
}

/** A copy of the value with this edit. */
function changed(value: Json, path: JSONPath, to: unknown): Json {
  const copy = structuredClone(value);
  let place = copy as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) {
    place[key] ??= {};
    place = place[key] as Record<string | number, unknown>;
  }
  const last = path.at(-1) as string | number;
  if (Array.isArray(place)) {
    if (to === undefined) place.splice(last as number, 1);
    else place[last as number] = to;
  } else if (to === undefined) delete place[last];
  else place[last] = to;
  return copy;
}

/**
 * Inserts `value` at the end of the object or list at `parent`; an object needs `key`. Existing text keeps its bytes,
 * which jsonc-parser's `modify` does not guarantee. The new text is on lines of its own if its neighbors are, and else
 * on the same line. Undefined if there is no object or list.
 */
function insertLast(
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
 * Undoes `insertLast`: removes the last of several entries, and the comma before it. Undefined unless the entry at
 * `path` is the last of several.
 */
function removeLast(text: string, path: JSONPath): string | undefined {
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

/** The indentation is that of the first indented line. */
function styleOf(text: string): Style {
  return {
    eol: text.includes("\r\n") ? "\r\n" : "\n",
    unit: /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ",
  };
}

/** Puts the value on a line of its own in an empty object or list. */
function fill(text: string, node: Node, name: string, value: unknown, style: Style): string {
  const outer = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", node.offset - 1) + 1))?.[0] ?? "";
  const inner = outer + style.unit;
  const open = text.charAt(node.offset);
  const close = text.charAt(node.offset + node.length - 1);
  const body = `${style.eol}${inner}${name}${inLines(value, inner, style)}${style.eol}${outer}`;
  return text.slice(0, node.offset) + open + body + close + text.slice(node.offset + node.length);
}

/** The indentation before `offset`; undefined if anything else precedes it on its line. */
function indentBefore(text: string, offset: number): string | undefined {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const before = text.slice(start, offset);
  return start > 0 && before.trim() === "" ? before : undefined;
}

function inLines(value: unknown, outer: string, { eol, unit }: Style): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", eol + outer);
}

/** Writes JSON with spaces after colons and commas. */
function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value);
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}: ${inOneLine(item)}`).join(", ")}}`;
}
