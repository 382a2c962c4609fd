import * as v from "valibot";
import { EDITING_TOOLS } from "../claude/names";
import type { Result } from "../editor/methods";
import { failureCode } from "../lib/errors";
import { isAlive } from "../lib/process";
import { readText } from "../lib/read-regular";
import { visible, visibleLine } from "../lib/visible";
import { cliPid, type HookCall } from "./call";
import type { HookInput } from "./input";

/** Intervals in ms: between retries while Neovim is busy, and between checks that the CLI is still running. */
const BUSY_MS = 2_000;
const CLI_MS = 5_000;

/** The user's answer (lua/claude-code/sessions/requests.lua). */
type Answer = NonNullable<Result<"permission_request">>;

/** The CLI's format (2.1.330). */
type Decision =
  | { behavior: "allow"; updatedInput?: object; updatedPermissions?: unknown[] }
  | { behavior: "deny"; message: string; interrupt?: true };

/**
 * Claude asks for permission, or asks a question. The CLI shows its own dialog at once, and the user may answer there
 * or in Neovim; the first answer counts (measured with 2.1.330). After an answer in the terminal the CLI leaves this
 * hook running, and Neovim ends it; after Esc the CLI ends it.
 */
export async function permissionRequest(call: HookCall): Promise<object | undefined> {
  const asked = questions(call.input);
  if (!hasDialog(call.input) || asked?.length === 0 || !(await isWanted(call))) return undefined;
  const offered = suggestions(call.input.permission_suggestions);
  const request = {
    ...describe(call.input),
    ...planOf(call.input),
    suggestions: offered.map(({ label }) => label),
    ...(asked?.[0] && { title: asked[0].title, questions: asked.map(({ shown }) => shown) }),
  };
  const answer = await untilCliEnds((signal) =>
    call.askUser("permission_request", request, signal),
  );
  if (!answer) return undefined;
  const chosen = offered[(answer.suggestion ?? 0) - 1]?.update;
  const decision = answer.allow ? allow(call.input, answer, asked, chosen) : deny(answer);
  return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision } };
}

/** With -p, and for a subagent, the CLI (2.1.330) shows no dialog before its hooks have ended. */
function hasDialog({ agent_id }: HookInput): boolean {
  return agent_id === undefined && process.env.CLAUDE_CODE_ENTRYPOINT === "cli";
}

/** Asks again while Neovim is busy: it answers no calls while it shows a prompt. */
async function isWanted(call: HookCall): Promise<boolean> {
  for (;;) {
    try {
      return (await call.ask("permission_wanted", planOf(call.input))) === true;
    } catch (error) {
      const pid = cliPid();
      if (failureCode(error) !== "busy" || !pid || !isAlive(pid)) throw error;
      await Bun.sleep(BUSY_MS);
    }
  }
}

/** Aborts when the CLI is gone: a CLI that was killed cannot end its hooks. */
async function untilCliEnds<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const [pid, gone] = [cliPid(), new AbortController()];
  const timer = setInterval(() => pid && !isAlive(pid) && gone.abort(), CLI_MS);
  try {
    return await ask(gone.signal);
  } finally {
    clearInterval(timer);
  }
}

/** In characters. The user reads a longer plan in the CLI's own dialog. */
const MAX_PLAN = 200_000;

/** The plan of ExitPlanMode (2.1.330). */
function planOf({ tool_name, tool_input }: HookInput): { plan?: string } {
  const { plan } = (tool_input ?? {}) as { plan?: unknown };
  const isPlan = tool_name === "ExitPlanMode" && typeof plan === "string";
  return isPlan && plan.length <= MAX_PLAN ? { plan } : {};
}

function allow(
  { tool_name, tool_input }: HookInput,
  { replies, plan, mode }: Answer,
  asked: Question[] | undefined,
  update: unknown,
): Decision {
  if (asked) {
    const answers = repliesByQuestion(asked, replies ?? []);
    return { behavior: "allow", updatedInput: { ...tool_input, answers } };
  }
  return {
    behavior: "allow",
    // Without `updatedInput` the CLI still asks whether Claude may carry out the plan.
    ...(tool_name === "ExitPlanMode" && {
      // The CLI (2.1.330) writes a changed text to the plan's file, and says who edited it.
      updatedInput: { ...tool_input, ...(plan === undefined ? shownPlan(tool_input) : { plan }) },
    }),
    ...(update !== undefined && { updatedPermissions: [update] }),
    ...(mode !== undefined && {
      updatedPermissions: [{ type: "setMode", mode, destination: "session" }],
    }),
  };
}

/**
 * The CLI (2.1.330) reads the plan's file again if the answer has the plan that it sent. If the file has changed since,
 * the user must get the plan that they saw: we add or remove a line end, so that the CLI takes it for a changed plan.
 */
function shownPlan({ plan, planFilePath }: Record<string, unknown> = {}): { plan?: string } {
  if (typeof plan !== "string" || readText(String(planFilePath)) === plan) return {};
  return { plan: plan.endsWith("\n") ? plan.slice(0, -1) : `${plan}\n` };
}

/** Claude receives the reason and continues. Without a reason it stops, as it does after No in its terminal. */
function deny({ reason }: Answer): Decision {
  if (reason) return { behavior: "deny", message: reason };
  return { behavior: "deny", message: "The user rejected this.", interrupt: true };
}

/** One of the CLI's offers besides a plain yes. If the user chooses it, the CLI gets `update` back unchanged. */
interface Suggestion {
  label: string;
  update: unknown;
}

const Update = v.variant("type", [
  v.object({
    type: v.literal("addRules"),
    behavior: v.literal("allow"),
    rules: v.array(v.object({ toolName: v.string(), ruleContent: v.optional(v.string()) })),
    destination: v.string(),
  }),
  v.object({
    type: v.literal("addDirectories"),
    directories: v.array(v.string()),
    destination: v.string(),
  }),
  v.object({ type: v.literal("setMode"), mode: v.string(), destination: v.string() }),
]);
type Update = v.InferOutput<typeof Update>;

const MAX_LABEL = 300;

/** Describes where the CLI (2.1.330) keeps the rule. */
const PLACES: Record<string, string> = {
  session: "in this session",
  localSettings: "in this project, for you",
  projectSettings: "in this project, for all who work on it",
  userSettings: "in all projects",
};

/** Leaves out the offers that we cannot describe completely. */
function suggestions(offered: readonly unknown[] = []): Suggestion[] {
  return offered.flatMap((update) => {
    const { success, output } = v.safeParse(Update, update);
    const text = success ? visibleLine(label(output)) : "";
    return text !== "" && text.length <= MAX_LABEL ? [{ label: text, update }] : [];
  });
}

function label(update: Update): string {
  const place = PLACES[update.destination] ?? `in ${update.destination}`;
  switch (update.type) {
    case "addRules": {
      const rules = update.rules.map(({ toolName, ruleContent }) =>
        ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`,
      );
      return `Allow, and do not ask again ${place}: ${rules.join(", ")}`;
    }
    case "addDirectories":
      return `Allow, and give access ${place}: ${update.directories.join(", ")}`;
    case "setMode":
      return `Allow, and set the permission mode ${place}: ${update.mode}`;
  }
}

/** No one reads longer texts, and they make Neovim slow. The last line says that the text was cut. */
const MAX_CHARACTERS = 200_000;
const MAX_LINES = 5_000;
const MAX_TITLE = 120;

type Fields = Record<string, unknown>;

/**
 * Describes a request for the user; lua/claude-code/sessions/requests.lua documents the fields. The text leaves
 * nothing out, unless it is too long: then its last line says that it was cut.
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

/** The text of one field, then the other fields: with a plan, for example, Claude may ask for permissions. */
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
 * The file of an edit, and its old and new lines. Returns undefined if the input has a field that this text would
 * leave out, because each tool has its own fields.
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
/** In characters. Longer options do not fit into a list; the user reads them in Claude's terminal. */
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

/** One of Claude's questions. Neovim gets `shown`. */
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

/** The user chose options, which are numbered from 1, or typed an answer. */
interface Reply {
  options?: number[] | undefined;
  text?: string | undefined;
}

/** The questions of AskUserQuestion: empty if we do not know their format, undefined for any other tool. */
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

/** The CLI (2.1.330) expects the answers by question in the tool's input, and joins several answers with commas. */
function repliesByQuestion(asked: Question[], replies: Reply[]): Record<string, string> {
  return Object.fromEntries(
    asked.map(({ question, labels }, index) => {
      const { options = [], text } = replies[index] ?? {};
      const chosen = options.flatMap((number) => labels[number - 1] ?? []);
      return [question, [...chosen, ...(text ? [text] : [])].join(", ")];
    }),
  );
}
