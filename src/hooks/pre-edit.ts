import * as v from "valibot";
import { ASKING_MODES } from "../claude/names";
import { below } from "../lib/below";
import { attempt } from "../lib/errors";
import { realPath } from "../lib/paths";
import { basename, dirname, relative } from "../lib/platform";
import type { HookCall } from "./call";
import { editedPath } from "./input";

const HOLD_MS = 60_000;
/** Neovim does not merge larger files. */
const MAX_BYTES = 2 * 1024 * 1024;

const ToolInput = v.union([
  v.object({ content: v.string() }),
  v.object({
    old_string: v.pipe(v.string(), v.nonEmpty()),
    new_string: v.string(),
    replace_all: v.optional(v.boolean(), false),
  }),
]);

/**
 * Claude is about to edit a file. If the edit conflicts with the user's unsaved edits, Claude waits, once in a turn,
 * until the user has saved them, and must then read the file again. Claude does not wait if the user is away, or has
 * switched this off.
 */
export async function preEdit(call: HookCall): Promise<object | undefined> {
  const path = editedPath(call.input, call.cwd);
  // In these modes the CLI shows a diff, which includes the unsaved edits.
  const asks = ASKING_MODES.includes(call.input.permission_mode ?? "");
  if (path === undefined || asks) return undefined;
  const text = textAfter(call.input.tool_input, path);
  const params = { path, ...(text !== undefined && { text }) };
  if ((await call.ask("edit_is_held", params)) !== true) return undefined;
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

/** The file's text after the edit; undefined if the edit would fail, and for a notebook. */
function textAfter(input: unknown, path: string): string | undefined {
  const { success, output } = v.safeParse(ToolInput, input);
  if (!success) return undefined;
  if ("content" in output) return output.content;
  const real = realPath(path);
  const read = () => below(dirname(real), basename(real), (place) => place.read(MAX_BYTES));
  const before = attempt(read)?.bytes.toString().replaceAll("\r\n", "\n");
  const { old_string, new_string, replace_all } = output;
  // A U+FFFD stands for bytes that are not UTF-8.
  if (!before?.includes(old_string) || before.includes("\uFFFD")) return undefined;
  return replace_all
    ? before.replaceAll(old_string, () => new_string)
    : before.replace(old_string, () => new_string);
}
