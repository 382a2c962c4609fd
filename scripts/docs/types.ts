import type { Facts, Option } from "./facts";
import { wrap } from "./vimdoc";

const HEAD = `---@meta
--- The types of the options: what a user writes, in which every field may be left out, and what the
--- plugin works with. Made from options/ by \`bun run docs\`; do not edit.
`;

/** lua/claude-code/config/types.lua. */
export function configTypes({ options, aliases }: Facts): string {
  const tables = tablesOf(options);
  const blocks = [
    ...tables.map(([path, fields]) => userClass(path, fields)),
    ...tables.map(([path, fields]) => resolvedClass(path, fields)),
    Object.keys(aliases)
      .sort()
      .map((name) => `---@alias claude-code.${name} ${aliases[name]}`)
      .join("\n"),
  ];
  return `${HEAD}\n${blocks.join("\n\n")}\n`;
}

type Field = { name: string; option?: Option };

/** The tables of options by their dotted paths, "" first, each with its fields in order. */
function tablesOf(options: readonly Option[]): [path: string, fields: Field[]][] {
  const tables = new Map<string, Field[]>();
  const add = (key: string, option?: Option) => {
    const [, path = "", name = key] = /^(.*)\.([^.]+)$/.exec(key) ?? [];
    const fields = tables.get(path) ?? [];
    if (fields.some((field) => field.name === name)) return;
    tables.set(path, [...fields, option ? { name, option } : { name }]);
    if (path) add(path);
  };
  for (const option of options) add(option.key, option);
  return [...tables].sort(([a], [b]) => (a < b ? -1 : 1));
}

function userClass(path: string, fields: readonly Field[]): string {
  const lines = fields.map(({ name, option }) => {
    const type = option?.annotation ?? className("User", join(path, name));
    return `${option ? `${comment(option)}\n` : ""}---@field ${name}? ${type}`;
  });
  return [`---@class ${className("User", path)}`, ...lines].join("\n");
}

function resolvedClass(path: string, fields: readonly Field[]): string {
  const lines = fields.map(({ name, option }) => {
    const type = option?.annotation ?? className("", join(path, name));
    const absent = option && option.default === undefined ? "?" : "";
    return `---@field ${name}${absent} ${type}`;
  });
  return [`---@class ${className("", path)}`, ...lines].join("\n");
}

/** The first sentence of its description. */
function comment({ description }: Option): string {
  const sentence = /^.*?\.(?= |$)/.exec(description)?.[0] ?? description;
  return wrap(sentence, 0, 97).replaceAll(/^/gm, "---");
}

function join(path: string, name: string): string {
  return path ? `${path}.${name}` : name;
}

/** `diff.keys` → `claude-code.DiffKeysConfig`. */
function className(family: "User" | "", path: string): string {
  const words = path.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `claude-code.${family}${words.join("")}Config`;
}
