import type { Facts, Option } from "./facts";
import { wrap } from "./vimdoc";

const WIDTH = 120;
const HEAD = `---@meta
--- The types of the options. All are set in the plugin's own table; the user's table may leave out any. Made from
--- options/ by \`bun run docs\`; do not edit.

---@alias claude-code.UserConfig claude-code.Config|{}
`;

/** lua/claude-code/config/types.lua. */
export function configTypes({ options }: Facts): string {
  const blocks = tablesOf(options).map(([path, fields]) => optionClass(path, fields));
  return `${HEAD}\n${blocks.join("\n\n")}\n`;
}

type Field = { name: string; option?: Option };

/** The fields of each table of options, by dotted path. The first path is "". */
function tablesOf(options: readonly Option[]): [path: string, fields: Field[]][] {
  const tables = new Map<string, Field[]>();
  const add = (key: string, option?: Option) => {
    const [, path = "", name = key] = /^(.*)\.([^.]+)$/.exec(key) ?? [];
    const fields = tables.get(path) ?? [];
    if (fields.some((field) => field.name === name)) return;
    tables.set(path, [...fields, option ? { name, option } : { name }]);
    if (path) add(path);
  };
  for (const option of options)
    if (option.fields)
      for (const { name, default: preset } of option.fields)
        add(`${option.key}.${name}`, { ...option, default: preset });
    else add(option.key, option);
  return [...tables].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** With `|{}`, LuaLS does not report missing fields in a user's table of options. */
function optionClass(path: string, fields: readonly Field[]): string {
  const lines = fields.map(({ name, option }) => {
    if (!option) return `---@field ${name} ${className(join(path, name))}|{}`;
    const absent = option.default === undefined ? "?" : "";
    const field = `---@field ${name}${absent} ${option.annotation}`;
    // The name of a key describes it.
    if (path.endsWith("keys")) return field;
    const sentence = firstSentence(option);
    const line = `${field} ${sentence}`;
    return line.length <= WIDTH ? line : `${comment(sentence)}\n${field}`;
  });
  return [`---@class ${className(path)}`, ...lines].join("\n");
}

function firstSentence({ description }: Option): string {
  return /^.*?\.(?= |$)/.exec(description)?.[0] ?? description;
}

function comment(sentence: string): string {
  return wrap(sentence, 0, WIDTH - 3).replaceAll(/^/gm, "---");
}

function join(path: string, name: string): string {
  return path ? `${path}.${name}` : name;
}

/** `diff.keys` → `claude-code.DiffKeysConfig`. */
function className(path: string): string {
  const words = path.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `claude-code.${words.join("")}Config`;
}
