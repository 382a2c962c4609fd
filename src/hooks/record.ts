import { message } from "../lib/errors";
import { startedAt } from "../lib/process";
import { noteIncomplete, reviewFolder, reviewRoot } from "../review/journal/folder";
import type { ToolCall } from "../review/record/recorded-project";
import type { Comparison, Recorder } from "../review/record/recorder";
import { cliPid, type HookCall, hasOurSettings } from "./call";
import { editedPath } from "./input";

/** The handlers record an event, and say whether it requires a comparison of the work tree. */
export const EVENTS: Record<string, (recorder: Recorder, call: HookCall) => Comparison> = {
  "session-start": () => "compare",
  "user-prompt-submit": (recorder, { input }) =>
    recorder.prompt(input.session_id, input.prompt_id, input.prompt ?? ""),
  "pre-tool-use": (recorder, call) => recorder.begin(toolCall(call), cliPid()),
  "pre-edit": (recorder, call) => recorder.seen(toolCall(call)),
  "post-tool-use": (recorder, call) => recorder.change(toolCall(call), hasOurSettings()),
  "post-tool-use-failure": (recorder, call) => recorder.failed(toolCall(call)),
  stop: (recorder, { input }) =>
    recorder.stop(
      input.session_id,
      input.prompt_id,
      (input.background_tasks ?? []).length > 0,
      cliPid(),
    ),
  "pre-skill-shell-command": (recorder, call) => recorder.beginSkill(toolCall(call), cliPid()),
  "user-prompt-expansion": (recorder, call) =>
    announcesSkillLines()
      ? "enough"
      : recorder.beginSkill({ ...toolCall(call), use: `${call.input.prompt_id}/skill` }, cliPid()),
  "subagent-stop": () => "compare",
  "session-end": (recorder, { input }) => recorder.end(input.session_id),
};

/** Records the changes that a hook reports. Never throws: a failure marks the review as incomplete. */
export async function record(event: string, call: HookCall): Promise<void> {
  const handle = EVENTS[event];
  if (!handle) return;
  let root: string | undefined;
  try {
    root = reviewRoot(projectFolder(call));
    // Loaded only here: other hooks do not need the journal's schemas.
    const { Recorder } = await import("../review/record/recorder");
    const recorder = new Recorder(root, startedAt());
    if (handle(recorder, call) === "enough") return;
    // Loaded only here: few hooks start a process.
    const request = await import("../review/record/comparison-request");
    request.startComparison(recorder.project, (problem) =>
      call.log.warn(`The work tree was not compared: ${problem}`),
    );
  } catch (error) {
    call.log.warn(
      `A change is missing from the review, since it could not be recorded: ${message(error)}`,
    );
    if (root !== undefined) noteIncomplete(reviewFolder(root));
  }
}

/** The CLI has PreSkillShellCommand, which fires for each shell line (2.1.332; 2.1.330 lacks it). */
function announcesSkillLines(): boolean {
  const [, ...version] = /^claude-code_(\d+)-(\d+)-(\d+)/.exec(process.env.AI_AGENT ?? "") ?? [];
  return version.length > 0 && Bun.semver.order(version.join("."), "2.1.332") >= 0;
}

/** `call.cwd` changes when Claude uses `cd` (measured with 2.1.330). */
function projectFolder(call: HookCall): string {
  return process.env.CLAUDE_PROJECT_DIR || call.cwd;
}

function toolCall({ input, cwd }: HookCall): ToolCall {
  return {
    session: input.session_id,
    prompt: input.prompt_id,
    agent: input.agent_id,
    tool: input.tool_name ?? "",
    use: input.tool_use_id,
    command: input.tool_input?.command,
    path: editedPath(input, cwd),
    response: input.tool_response,
    durationMs: input.duration_ms,
  };
}

/** The user has submitted a prompt. It takes along a list of Claude's edits that the user has undone. */
export async function userPromptSubmit(call: HookCall) {
  // Loaded only here: other hooks do not need the journal's schemas.
  const { takeUndoneEdits } = await import("../review/undone-edits");
  const additionalContext = takeUndoneEdits(projectFolder(call), call.input.session_id);
  if (additionalContext === undefined) return undefined;
  return { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext } };
}
