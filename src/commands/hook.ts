import { cliPid, HookCall } from "../hooks/call";
import { parseInput } from "../hooks/input";
import { postToolUse } from "../hooks/post-tool-use";
import { record, userPromptSubmit } from "../hooks/record";
import { stop } from "../hooks/stop";
import { withDeadline } from "../lib/deadline";
import { complain, message } from "../lib/errors";
import { own } from "../lib/json";
import { stateLog } from "../lib/log";
import { print } from "../lib/output";
import { Binding } from "../locate/find";
import { findRelay, hookByRelay } from "../remote/inside";

/** Claude Code writes a hook's stdin and closes it at once. */
const INPUT_MS = 2_000;
/** Longer than any wait for language servers, and shorter than the CLI's time-outs (claude/hooks.ts). */
const WHOLE_MS = 14_000;
const WHOLE_MS_OF: Record<string, number> = {
  stop: 70_000,
  "pre-edit": 70_000,
  // It ends when the user answers, or when the CLI ends it.
  "permission-request": Number.POSITIVE_INFINITY,
};

/** The handlers of events. Their values are printed as JSON for Claude Code. */
const EVENTS: Record<string, (call: HookCall) => Promise<object | undefined>> = {
  "session-start": sessionStart,
  "post-tool-use": postToolUse,
  stop,
  "session-end": async (call) => void (await call.ask("session_finish", {})),
  "user-prompt-submit": userPromptSubmit,
  "pre-tool-use": onlyRecorded,
  "pre-edit": async (call) => (await import("../hooks/pre-edit")).preEdit(call),
  "post-tool-use-failure": onlyRecorded,
  "pre-skill-shell-command": onlyRecorded,
  "user-prompt-expansion": onlyRecorded,
  "subagent-stop": onlyRecorded,
  // Loaded only here, since no other hook needs it.
  "permission-request": async (call) =>
    (await import("../hooks/permission")).permissionRequest(call),
};

/** Printed if anything fails, so that Claude is not blocked. */
const ON_FAILURE: Record<string, object> = { stop: { continue: true } };

/**
 * `claude-code-nvim hook EVENT` answers one hook of Claude Code. The exit code is always 0: any other would block
 * Claude, or show the user an error at every edit.
 */
export async function hook(args: string[]): Promise<number> {
  const [event = "", root = ""] = args;
  // Only our own hooks start this one; Claude Code never does.
  if (event === "compare") {
    const { compare } = await import("../hooks/compare");
    await compare(root, stateLog("hooks.log"));
    return 0;
  }
  const handle = own(EVENTS, event);
  if (!handle) {
    const known = Object.keys(EVENTS).join(", ");
    return complain(0, `hook needs an event: ${known}`);
  }
  const log = stateLog("hooks.log");
  const relay = findRelay(process.env, process.cwd());
  let output = relay ? undefined : own(ON_FAILURE, event);
  const wholeMs = own(WHOLE_MS_OF, event) ?? WHOLE_MS;
  try {
    const text = await withDeadline(Bun.stdin.text(), INPUT_MS, "stdin");
    // Neovim is on another machine, and the hook runs there.
    if (relay) await hookByRelay(relay, args, text);
    else {
      const call = new HookCall(parseInput(text), log);
      output = await withDeadline(answer(event, handle, call), wholeMs, "the hook");
    }
  } catch (error) {
    log.warn(`The ${event} hook failed, so Claude is not blocked: ${message(error)}`);
  }
  if (output) print(`${JSON.stringify(output)}\n`);
  return 0;
}

async function answer(
  event: string,
  handle: (call: HookCall) => Promise<object | undefined>,
  call: HookCall,
): Promise<object | undefined> {
  try {
    await record(event, call);
    return await handle(call);
  } finally {
    call.close();
  }
}

/** The system may have given the CLI a process id that another CLI had before. */
async function sessionStart(call: HookCall): Promise<undefined> {
  const pid = cliPid();
  const { source } = call.input;
  if (pid && source === "startup") new Binding(pid).forget();
  await call.ask("session_start", { source });
}

async function onlyRecorded(): Promise<undefined> {}
