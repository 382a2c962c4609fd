import { EDITING_TOOLS } from "../../claude/editing-tools";
import type { HookInput } from "../input";
import { visible, visibleLine } from "./visible";

/** What the user reads of a request. */
export interface RequestText {
  tool: string;
  /** One line. */
  title: string;
  lines: string[];
  /** Neovim's 'syntax' for the lines. */
  syntax?: string;
  /** It edits a file, which the CLI may show as a diff in Neovim. */
  is_edit?: true;
}

/** More than anybody reads, and less than what makes Neovim slow; the last line then says so. */
const MOST_CHARACTERS = 200_000;
const MOST_LINES = 5_000;
const MOST_TITLE = 120;

type Fields = Record<string, unknown>;

/** The whole request as text. Nothing in it is left out but by length, which a line says. */
export function describe({ tool_name = "", tool_input = {} }: HookInput): RequestText {
  const { text, syntax } = body(tool_name, tool_input);
  const first = tool_input.command ?? tool_input.file_path ?? tool_input.notebook_path;
  const subject = typeof first === "string" ? `: ${first}` : "";
  return {
    tool: visibleLine(tool_name, MOST_TITLE),
    title: visibleLine(`${tool_name}${subject}`, MOST_TITLE),
    lines: shortened(text),
    ...(syntax && { syntax }),
    ...(EDITING_TOOLS.includes(tool_name) && { is_edit: true as const }),
  };
}

function body(tool: string, input: Fields): { text: string; syntax?: string } {
  const { command, description, content, plan, ...others } = input;
  if (tool === "Bash" && typeof command === "string") {
    const said = description === undefined ? [] : ["", `description: ${description}`];
    return { text: [command, ...said, ...fields(others)].join("\n"), syntax: "sh" };
  }
  if (tool === "ExitPlanMode" && typeof plan === "string") {
    return { text: plan, syntax: "markdown" };
  }
  const edit = changes(input);
  return edit ? { text: edit.join("\n"), syntax: "diff" } : { text: fields(input).join("\n") };
}

/** Of an edit: its file, and the lines that go and come. */
function changes(input: Fields): string[] | undefined {
  const { file_path, content, old_string, new_string, edits, ...others } = input;
  if (typeof file_path !== "string") return undefined;
  const list = Array.isArray(edits) ? edits : [{ old_string, new_string: new_string ?? content }];
  const lines = list.flatMap((edit: Fields) => [
    ...marked("-", edit?.old_string),
    ...marked("+", edit?.new_string),
  ]);
  if (lines.length === 0) return undefined;
  return [file_path, ...fields(others), ...lines];
}

function marked(sign: string, text: unknown): string[] {
  if (typeof text !== "string" || text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => sign + line);
}

/** Any tool's arguments. */
function fields(input: Fields): string[] {
  return Object.entries(input)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
      return text.includes("\n") ? [`${name}:`, ...text.split("\n")] : [`${name}: ${text}`];
    });
}

function shortened(text: string): string[] {
  const lines = visible(text.slice(0, MOST_CHARACTERS)).split("\n");
  const cut = text.length - MOST_CHARACTERS;
  if (cut > 0) lines.push(`… and ${cut} more characters: read them in Claude's terminal`);
  if (lines.length <= MOST_LINES) return lines;
  const more = `… and ${lines.length - MOST_LINES} more lines: read them in Claude's terminal`;
  return [...lines.slice(0, MOST_LINES), more];
}
