import { attempt } from "../lib/errors";
import { isObject, type JsonObject } from "../lib/json";
import { commandWords, RARELY_AWAKE } from "./command";
import { CHANGING_TOOLS_MATCHER, EDITING_TOOLS, OTHER_TOOLS_MATCHER } from "./names";

/** One hook. The CLI starts `command` with `args`, without a shell. `timeout` is in seconds. */
interface HookEntry {
  type: "command";
  command: string;
  args?: string[];
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

/** Our hooks by event, with Claude Code's names. The CLI ignores a plugin's hook for an event that it does not know. */
export function hookSettings(executable: string): HookSettings {
  const entry = (event: string, timeout: number, env?: Record<string, string>): HookEntry => {
    const [command = "", ...args] = commandWords(["hook", event], executable, env);
    return { type: "command", command, args, timeout };
  };
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
    // No event follows a skill's shell lines. The CLI waits for these hooks, so they record the beginning in time.
    PreSkillShellCommand: [{ hooks: [entry("pre-skill-shell-command", QUICK_S)] }],
    UserPromptExpansion: [{ hooks: [entry("user-prompt-expansion", QUICK_S)] }],
    SubagentStop: [{ hooks: [entry("subagent-stop", QUICK_S)] }],
    Stop: [{ hooks: [{ ...entry("stop", STOP_S), statusMessage: STOP_STATUS }] }],
    SessionEnd: [{ hooks: [entry("session-end", QUICK_S)] }],
    // The hook asks Neovim first whether its user answers there.
    PermissionRequest: [{ hooks: [entry("permission-request", ANSWER_S, RARELY_AWAKE)] }],
  };
}

const OUR_HOOK = new RegExp(
  "(^|[\\s/\\\\'\"])claude-code-nvim(\\.exe)?['\"]? hook " +
    "(?<event>session-(start|end)|user-prompt-submit|(pre|post)-tool-use(-failure)?|pre-edit|(subagent-)?stop|permission-request)(?![\\w-])",
);

/** The event, such as "pre-edit", if a line runs one of our hooks, as version 0.1 wrote them into settings. */
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
