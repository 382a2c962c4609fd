import { hookLine } from "./command";
import { EDITING_TOOLS_MATCHER } from "./editing-tools";

/** One hook as Claude Code's settings have it; the time-out in seconds. */
export interface HookEntry {
  type: "command";
  command: string;
  timeout: number;
}

/** Some hooks for the tools that `matcher` picks, or for all. */
export interface HookGroup {
  matcher?: string;
  hooks: HookEntry[];
}

export type HookSettings = Record<string, HookGroup[]>;

/** Seconds: longer than our own deadlines, so that the CLI never has to end a hook. */
const QUICK_S = 5;
const WAITING_S = 15;
/** The option `diagnostics.busy_deadline_ms` is 60 s at most. */
const STOP_S = 75;

/** Our hooks, by Claude Code's name of the event. `line` makes the command of one of them. */
export function hookSettings(line: (event: string) => string = hookLine): HookSettings {
  const entry = (event: string, timeout: number): HookEntry => ({
    type: "command",
    command: line(event),
    timeout,
  });
  return {
    SessionStart: [{ hooks: [entry("session-start", QUICK_S)] }],
    PostToolUse: [{ matcher: EDITING_TOOLS_MATCHER, hooks: [entry("post-tool-use", WAITING_S)] }],
    Stop: [{ hooks: [entry("stop", STOP_S)] }],
    SessionEnd: [{ hooks: [entry("session-end", QUICK_S)] }],
  };
}

/** Whether a command runs one of our hooks, from whatever path. */
export function isOurHook(command: unknown): boolean {
  return (
    typeof command === "string" &&
    /claude-code-nvim(\.exe)?['"]? hook (session-start|post-tool-use|stop|session-end)\b/.test(
      command,
    )
  );
}
