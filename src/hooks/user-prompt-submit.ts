import type { HookCall } from "./call";
import { projectFolder } from "./record";

export interface PromptContext {
  hookSpecificOutput: { hookEventName: "UserPromptSubmit"; additionalContext: string };
}

/** The user submits a prompt: Claude receives with it which of its edits were undone. */
export async function userPromptSubmit(call: HookCall): Promise<PromptContext | undefined> {
  // Loaded only here: the journal's schemas are for those who read it.
  const { takeUndoneEdits } = await import("../review/undone-edits");
  const additionalContext = takeUndoneEdits(projectFolder(call), call.input.session_id);
  if (additionalContext === undefined) return undefined;
  return { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext } };
}
