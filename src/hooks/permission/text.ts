import * as v from "valibot";
import { EDITING_TOOLS } from "../../claude/names";
import { visible, visibleLine } from "../../lib/visible";
import type { HookInput } from "../input";

/** More than anybody reads, and less than what makes Neovim slow; the last line then says so. */
const MAX_CHARACTERS = 200_000;
const MAX_LINES = 5_000;
const MAX_TITLE = 120;

type Fields = Record<string, unknown>;

/**
 * What the user reads of a request (lua/claude-code/sessions/requests.lua has the fields): all of it.
 * Nothing is left out but by length, which a line says.
 */
export function describe({ tool_name = "", tool_input = {} }: HookInput) {
  const { text, syntax } = body(tool_name, tool_input);
  const first = tool_input.command ?? tool_input.file_path ?? tool_input.notebook_path;
  const subject = typeof first === "string" ? `: ${first}` : "";
  return {
    tool: visibleLine(tool_name, MAX_TITLE),
    title: visibleLine(`${tool_name}${subject}`, MAX_TITLE),
    lines: shortened(text),
    ...(syntax && { syntax }),
    ...(EDITING_TOOLS.includes(tool_name) && { is_edit: true }),
  };
}

function body(tool: string, input: Fields): { text: string; syntax?: string } {
  const { command, plan } = input;
  if (tool === "Bash" && typeof command === "string") {
    return { text: withOthers(command, input, "command"), syntax: "sh" };
  }
  if (tool === "ExitPlanMode" && typeof plan === "string") {
    return { text: withOthers(plan, input, "plan"), syntax: "markdown" };
  }
  const edit = changes(input);
  if (edit) return { text: edit.join("\n"), syntax: "diff" };
  return { text: fields(input).join("\n") || "The request has no arguments." };
}

/** One field as it is, and the others below it: with a plan the CLI may ask for permissions. */
function withOthers(text: string, { ...others }: Fields, field: string): string {
  delete others[field];
  const more = fields(others);
  return more.length > 0 ? [text, "", ...more].join("\n") : text;
}

const Change = v.union([
  v.strictObject({ old_string: v.string(), new_string: v.string() }),
  v.pipe(
    v.strictObject({ content: v.string() }),
    v.transform(({ content }) => ({ old_string: "", new_string: content })),
  ),
]);

/**
 * The file of an edit, and the lines that go and come. Undefined for any other input, of which that
 * would leave something out: every tool chooses the names of its fields.
 */
function changes(input: Fields): string[] | undefined {
  const { file_path, replace_all, ...change } = input;
  const { success, output } = v.safeParse(Change, change);
  if (typeof file_path !== "string" || !success) return undefined;
  const lines = [...marked("-", output.old_string), ...marked("+", output.new_string)];
  return lines.length > 0 ? [file_path, ...fields({ replace_all }), ...lines] : undefined;
}

function marked(sign: string, text: string): string[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => sign + line);
}

function fields(input: Fields): string[] {
  return Object.entries(input)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
      return text.includes("\n") ? [`${name}:`, ...text.split("\n")] : [`${name}: ${text}`];
    });
}

function shortened(text: string): string[] {
  const lines = visible(text.slice(0, MAX_CHARACTERS)).split("\n");
  if (text.length <= MAX_CHARACTERS && lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), "… and more: read it in Claude's terminal"];
}

const MAX_QUESTION = 200;
/** A longer option is nothing to choose in a list: the user reads it in Claude's terminal. */
const MAX_OPTION = 5_000;

const Option = v.pipe(v.string(), v.maxLength(MAX_OPTION));
const Questions = v.object({
  questions: v.pipe(
    v.array(
      v.object({
        question: v.string(),
        multiSelect: v.optional(v.boolean()),
        options: v.array(v.object({ label: Option, description: v.optional(Option) })),
      }),
    ),
    v.minLength(1),
  ),
});

/** One of Claude's questions, and how the user sees it. */
export interface Question {
  question: string;
  /** The question in one line. */
  title: string;
  labels: string[];
  shown: {
    text: string[];
    multiple: boolean;
    options: { label: string; description: string }[];
  };
}

/** The user's: numbers of options, from 1 on, or a text of their own. */
interface Reply {
  options?: number[] | undefined;
  text?: string | undefined;
}

/** The questions of AskUserQuestion, none if they are not as expected; undefined for any other tool. */
export function questions({ tool_name, tool_input }: HookInput): Question[] | undefined {
  if (tool_name !== "AskUserQuestion") return undefined;
  const { success, output } = v.safeParse(Questions, tool_input);
  if (!success) return [];
  return output.questions.map(({ question, multiSelect = false, options }) => ({
    question,
    title: visibleLine(question, MAX_QUESTION),
    labels: options.map(({ label }) => label),
    shown: {
      text: visible(question).split("\n"),
      multiple: multiSelect,
      options: options.map(({ label, description = "" }) => ({
        label: visibleLine(label),
        description: visibleLine(description),
      })),
    },
  }));
}

/** As the CLI (2.1.330) wants them in the tool's input: by question, several with commas. */
export function repliesByQuestion(asked: Question[], replies: Reply[]): Record<string, string> {
  return Object.fromEntries(
    asked.map(({ question, labels }, index) => {
      const { options = [], text } = replies[index] ?? {};
      const chosen = options.flatMap((number) => labels[number - 1] ?? []);
      return [question, [...chosen, ...(text ? [text] : [])].join(", ")];
    }),
  );
}
