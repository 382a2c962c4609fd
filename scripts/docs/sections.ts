import { createTools } from "../../src/ide/tools";
import type { Tool } from "../../src/mcp/tool";
import { createMethodTools } from "../../src/methods";
import { createNvimLspTools } from "../../src/nvim-lsp/server";
import {
  type Command,
  commandTexts,
  eventsText,
  type Facts,
  type Highlight,
  luaFunctions,
  type Subcommand,
} from "./facts";
import { fill, heading, WIDTH, wrap } from "./vimdoc";

/** Tools use the editor only when they are called. */
const EDITOR = {} as never;

/** The generated parts of the help files, by their names in the pages. */
export function sections(facts: Facts): Record<string, string> {
  const websocket = createTools(EDITOR, EDITOR, EDITOR);
  return {
    subcommands: subcommands(facts.subcommands),
    commands: commands(facts.commands),
    options: options(facts.options),
    plugs: plugs(facts),
    suggested: suggested(facts),
    highlights: highlights(facts.highlights),
    "review highlights": highlights(facts.review_highlights),
    "session highlights": highlights(facts.session_highlights),
    "transcript highlights": highlights(facts.transcript_highlights),
    lua: functions(),
    events: events(),
    tools: websocket.map((tool) => toolText(tool, "claude-code-tool")).join("\n\n"),
    "nvim-lsp": createNvimLspTools(EDITOR, EDITOR, EDITOR, EDITOR)
      .map((tool) => toolText(tool, "claude-code-nvim-lsp"))
      .join("\n\n"),
    methods: createMethodTools(EDITOR).map(methodText).join("\n\n"),
  };
}

function subcommands(list: readonly Subcommand[]): string {
  const texts = commandTexts();
  return sorted(list, ({ name }) => name)
    .map((subcommand) => {
      const text = texts[subcommand.name];
      if (!text) throw new Error(`:Claude ${subcommand.name} has no comment above its entry`);
      return `${heading(usage(subcommand), tag(subcommand.name))}\n${fill(text, 4)}`;
    })
    .join("\n\n");
}

/** A tag has no blanks. */
function tag(subcommand: string): string {
  return `:Claude ${subcommand}`.trim().replaceAll(" ", "-");
}

function commands(list: readonly Command[]): string {
  return sorted(list, ({ name }) => name)
    .map(({ name, desc }) =>
      heading(`:${name}`.padEnd(27) + desc.replace("Claude Code: as ", ""), `:${name}`),
    )
    .join("\n");
}

function sorted<T>(list: readonly T[], key: (item: T) => string): T[] {
  return [...list].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

function usage({ name, args = "", bang, range }: Subcommand): string {
  const words = `Claude ${name}`.trim();
  return `:${range === "lines" ? "[range]" : ""}${words}${bang ? "[!]" : ""} ${args}`.trim();
}

function functions(): string {
  return luaFunctions()
    .map(({ name, parameters, text }) => {
      const head = heading(
        `require("claude-code").${name}(${parameters})`,
        `claude-code.${name}()`,
      );
      return `${head}\n${fill(text, 4)}`;
    })
    .join("\n\n");
}

function options(list: Facts["options"]): string {
  return sorted(list, ({ key }) => key)
    .map((option) => {
      const head = heading(option.key, `claude-code-option-${option.key}`);
      const { fields, expected } = option;
      const preset = fields ? "" : `; default: ${option.default ?? "none"}`;
      const type = fill(`${fields ? "a table, each part " : ""}${expected}${preset}`, 4);
      const text = fill(option.description, 4);
      return [head, type, text, ...(fields ?? []).map(optionField)].join("\n");
    })
    .join("\n\n");
}

function optionField(field: { name: string; default: string; effect: string }): string {
  const text = wrap(`\`${field.name}\` (\`${field.default}\`) ${field.effect}`, 0, WIDTH - 6);
  return `    - ${text.replaceAll("\n", "\n      ")}`;
}

function plugs({ plugs }: Facts): string {
  return sorted(Object.entries(plugs), ([name]) => name)
    .map(([name, { modes }]) => `*<Plug>(${name})* ${modes}`)
    .join("\n");
}

function suggested({ suggested }: Facts): string {
  return suggested
    .map(({ modes, key, plug, desc }) => {
      return `    ${key.padEnd(12)} ${modes.join("").padEnd(4)} ${desc.padEnd(28)} |<Plug>(${plug})|`;
    })
    .join("\n");
}

function highlights(groups: readonly Highlight[]): string {
  return groups
    .map(({ name, link, description }) => {
      const text = link ? `${description} (\`${link}\`)` : description;
      return `${heading(name, `hl-${name}`)}\n${fill(text, 4)}`;
    })
    .join("\n");
}

/** Turns the rows `EVENT data` into entries with tags. */
function events(): string {
  return eventsText()
    .split(/\n{2,}/)
    .map((paragraph) =>
      /^\s+pattern\s+data/.test(paragraph) ? eventRows(paragraph) : fill(paragraph),
    )
    .join("\n\n");
}

function eventRows(table: string): string {
  const rows = table
    .replaceAll(/\n {10,}/g, " ")
    .split("\n")
    .slice(1);
  return rows
    .map((row) => {
      const [, name = "", data = ""] = /^\s*(\S+)\s+(.*)$/.exec(row) ?? [];
      return `${heading(name, name)}\n${fill(data, 4)}`;
    })
    .join("\n");
}

interface Schema {
  type?: string | string[];
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
  default?: unknown;
}

interface Described {
  name: string;
  description?: string;
  inputSchema: Schema;
}

function toolText(tool: Tool, prefix: string): string {
  const { name, description, inputSchema } = tool.describe() as unknown as Described;
  const text = description ?? "Listed without a description.";
  return [heading(name, `${prefix}-${name}`), fill(text, 4), parameters(inputSchema)]
    .filter(Boolean)
    .join("\n");
}

function methodText(tool: Tool): string {
  const { name, description = "", inputSchema } = tool.describe() as unknown as Described;
  const method = name.replace("_", "/");
  return [
    heading(method, `claude-code-method-${method}`),
    fill(description, 4),
    parameters(inputSchema),
  ]
    .filter(Boolean)
    .join("\n");
}

function parameters({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const optional = required.includes(name) ? "" : ", optional";
    const preset =
      schema.default === undefined ? "" : `, default ${JSON.stringify(schema.default)}`;
    const text = schema.description ? `: ${schema.description}` : "";
    return fill(`${name} (${typeName(schema)}${optional}${preset})${text}`, 8);
  });
  return rows.join("\n");
}

function typeName(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(typeName).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.items) return `list of ${typeName(schema.items)}`;
  return [schema.type ?? "any"].flat().join(" or ");
}
