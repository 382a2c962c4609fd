import { relative } from "node:path";
import { ASKING_MODES } from "../claude/names";
import type { HookCall } from "./call";
import { editedPath } from "./input";

const HOLD_MS = 60_000;

/**
 * Claude is about to edit a file: it waits for the user's unsaved edits of it, and has to read the file
 * again once they are written. Whoever is away, or wants none of that, holds nothing.
 */
export async function preEdit(call: HookCall): Promise<object | undefined> {
  const path = editedPath(call.input, call.cwd);
  // Where the CLI asks, the diff shows unsaved edits.
  const asks = ASKING_MODES.includes(call.input.permission_mode ?? "");
  if (path === undefined || asks) return undefined;
  if ((await call.ask("edit_is_held", { path })) !== true) return undefined;
  const end = await call.runTask("edit_hold", { path }, HOLD_MS).catch(() => undefined);
  if (end !== "written") return undefined;
  const name = relative(call.cwd, path);
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: `The user has just saved ${name} with changes of their own. Read it again, then make your edit.`,
    },
  };
}
