import * as v from "valibot";
import type { Result } from "../../editor/methods";
import { failureCode } from "../../lib/errors";
import { isAlive } from "../../lib/process";
import { readText } from "../../lib/read-regular";
import { visibleLine } from "../../lib/visible";
import { cliPid, type HookCall } from "../call";
import type { HookInput } from "../input";
import { describe, type Question, questions, repliesByQuestion } from "./text";

/** How often a Neovim that is busy is asked again, and a look taken whether the CLI still runs. */
const BUSY_MS = 2_000;
const CLI_MS = 5_000;

/** What the user answered (lua/claude-code/sessions/requests.lua). */
type Answer = NonNullable<Result<"permission_request">>;

/** As the CLI (2.1.330) takes it. */
type Decision =
  | { behavior: "allow"; updatedInput?: object; updatedPermissions?: unknown[] }
  | { behavior: "deny"; message: string; interrupt?: true };

/**
 * Claude asks for a permission, or asks a question: the user may answer in Neovim, beside the CLI's own
 * dialog, which is there at once. The CLI takes the answer that comes first (measured with 2.1.330):
 * one in its terminal does not end this hook, Neovim does then; Esc there ends it.
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

/**
 * Does the CLI ask in its terminal in the meantime? With -p, and for a subagent, it waits for its hooks
 * first (2.1.330).
 */
function hasDialog({ agent_id }: HookInput): boolean {
  return agent_id === undefined && process.env.CLAUDE_CODE_ENTRYPOINT === "cli";
}

/** Neovim answers nobody while it shows a prompt. */
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

/** A CLI that is killed ends none of its hooks. */
async function untilCliEnds<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const [pid, gone] = [cliPid(), new AbortController()];
  const timer = setInterval(() => pid && !isAlive(pid) && gone.abort(), CLI_MS);
  try {
    return await ask(gone.signal);
  } finally {
    clearInterval(timer);
  }
}

/** Of a longer one the CLI's own dialog is enough. */
const MAX_PLAN = 200_000;

/** The plan of ExitPlanMode: it comes with the file in which Claude has written it (2.1.330). */
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
    // Without it the CLI goes on asking whether the plan may be carried out.
    ...(tool_name === "ExitPlanMode" && {
      // With another text the CLI (2.1.330) writes it to the plan's file, and says who has edited it.
      updatedInput: { ...tool_input, ...(plan === undefined ? shownPlan(tool_input) : { plan }) },
    }),
    ...(update !== undefined && { updatedPermissions: [update] }),
    ...(mode !== undefined && {
      updatedPermissions: [{ type: "setMode", mode, destination: "session" }],
    }),
  };
}

/**
 * The CLI (2.1.330) reads the plan's file again unless it gets another plan than it gave. If the file has changed
 * since, a line end more or less makes the plan that was shown another one.
 */
function shownPlan({ plan, planFilePath }: Record<string, unknown> = {}): { plan?: string } {
  if (typeof plan !== "string" || readText(String(planFilePath)) === plan) return {};
  return { plan: plan.endsWith("\n") ? plan.slice(0, -1) : `${plan}\n` };
}

/** With a reason Claude goes on, and receives it; without one it stops, as after No in its terminal. */
function deny({ reason }: Answer): Decision {
  if (reason) return { behavior: "deny", message: reason };
  return { behavior: "deny", message: "The user rejected this.", interrupt: true };
}

/** The CLI's offers beside a plain yes: `update` goes back to it as it came. */
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

/** The words for where the CLI (2.1.330) keeps it. */
const PLACES: Record<string, string> = {
  session: "in this session",
  localSettings: "in this project, for you",
  projectSettings: "in this project, for all who work on it",
  userSettings: "in all projects",
};

/** Those of a kind that we know: what cannot be described whole is not offered. */
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
