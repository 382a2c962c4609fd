import { attempt } from "../lib/errors";
import { isObject, type JsonObject } from "../lib/json";
import { hookLine, RARELY_AWAKE } from "./command";
import { CHANGING_TOOLS_MATCHER, EDITING_TOOLS, OTHER_TOOLS_MATCHER } from "./names";

/** One hook in the format of Claude Code's settings. `timeout` is in seconds. */
export interface HookEntry {
  type: "command";
  command: string;
  timeout: number;
  /** The CLI shows this while the hook runs. */
  statusMessage?: string;
  /** Claude does not wait for the hook (measured with 2.1.330). */
  async?: true;
}

/** Hooks for the tools that `matcher` matches, or for all tools. */
export interface HookGroup {
  matcher?: string;
  hooks: HookEntry[];
}

export type HookSettings = Record<string, HookGroup[]>;

/** In seconds. They are longer than our own deadlines, so the CLI never has to end a hook. */
const QUICK_S = 5;
const WAITING_S = 15;
/** Language servers that are indexing get 30 s (editor/turn_check). */
const STOP_S = 75;
const STOP_STATUS = "Waiting for language servers in Neovim";
/**
 * A day, since the user may take long to answer. The CLI's own dialog does not wait for this hook, and stays open when
 * the hook times out (measured with 2.1.330).
 */
const ANSWER_S = 86_400;

/** Claude proposes a plan with this tool (2.1.330). */
const PLAN = "ExitPlanMode";

type Line = (event: string, env?: Record<string, string>) => string;

/** Our hooks by event, with Claude Code's names. `line` returns the command of a hook. */
export function hookSettings(line: Line = hookLine): HookSettings {
  const entry = (event: string, timeout: number) => hookEntry(line(event), timeout);
  return {
    SessionStart: [{ hooks: [entry("session-start", QUICK_S)] }],
    UserPromptSubmit: [{ hooks: [entry("user-prompt-submit", QUICK_S)] }],
    PreToolUse: [
      { matcher: OTHER_TOOLS_MATCHER, hooks: [{ ...entry("pre-tool-use", QUICK_S), async: true }] },
      { matcher: EDITING_TOOLS.join("|"), hooks: [entry("pre-edit", STOP_S)] },
    ],
    PostToolUse: [{ matcher: CHANGING_TOOLS_MATCHER, hooks: [entry("post-tool-use", WAITING_S)] }],
    PostToolUseFailure: [
      { matcher: OTHER_TOOLS_MATCHER, hooks: [entry("post-tool-use-failure", QUICK_S)] },
    ],
    SubagentStop: [{ hooks: [entry("subagent-stop", QUICK_S)] }],
    Stop: [{ hooks: [{ ...entry("stop", STOP_S), statusMessage: STOP_STATUS }] }],
    SessionEnd: [{ hooks: [entry("session-end", QUICK_S)] }],
    // Neovim shows plans as documents, even if the user answers Claude's other questions in the CLI.
    PermissionRequest: [{ matcher: PLAN, hooks: [answerHook(line)] }],
  };
}

/** The hook of the option `permissions.answer`: the user answers Claude's questions in Neovim. */
export function answerHookSettings(line: Line = hookLine): HookSettings {
  return { PermissionRequest: [{ hooks: [answerHook(line)] }] };
}

/** The same, except for plans, which `hookSettings` covers. */
export function otherAnswerHookSettings(line: Line): HookSettings {
  return { PermissionRequest: [{ matcher: `(?!${PLAN}$).*`, hooks: [answerHook(line)] }] };
}

function answerHook(line: Line): HookEntry {
  return hookEntry(line("permission-request", RARELY_AWAKE), ANSWER_S);
}

function hookEntry(command: string, timeout: number): HookEntry {
  return { type: "command", command, timeout };
}

const OUR_HOOK = new RegExp(
  "(^|[\\s/\\\\'\"])claude-code-nvim(\\.exe)?['\"]? hook " +
    "(?<event>session-(start|end)|user-prompt-submit|(pre|post)-tool-use(-failure)?|pre-edit|(subagent-)?stop|permission-request)(?![\\w-])",
);

/** The event, such as "pre-edit", if a command runs one of our hooks. The path of the program does not matter. */
export function ourHook(command: unknown): string | undefined {
  return typeof command === "string" ? OUR_HOOK.exec(command)?.groups?.event : undefined;
}

/** True if another program's hook runs after the tool. It may format the file. */
export function runsOthersAfter(tool: string, { hooks }: JsonObject): boolean {
  const groups: unknown = isObject(hooks) ? hooks.PostToolUse : undefined;
  return (Array.isArray(groups) ? groups : []).some(
    (group: Partial<HookGroup> | null) =>
      picks(group?.matcher, tool) &&
      Array.isArray(group?.hooks) &&
      group.hooks.some((entry) => !ourHook(entry?.command)),
  );
}

/** A matcher is a regular expression. Without a matcher, or with "*", a hook runs after every tool. */
function picks(matcher: unknown, tool: string): boolean {
  if (!matcher || matcher === "*") return true;
  return attempt(() => new RegExp(`^(?:${matcher})$`).test(tool)) ?? false;
}
