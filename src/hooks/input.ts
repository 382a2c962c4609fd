import * as v from "valibot";
import { EDITING_TOOLS } from "../claude/names";
import { resolve } from "../lib/platform";
import { changedByBash } from "../review/record/bash-changes";

/** Ignores values of other types: tools of MCP servers may use the same names for other things. */
const ifText = v.fallback(v.optional(v.string()), undefined);

/** The fields that we use of a hook's input (measured with 2.1.330). */
const Input = v.object({
  session_id: v.pipe(v.string(), v.nonEmpty()),
  cwd: v.optional(v.string()),
  /** Identifies the user's prompt. Older versions do not send it. */
  prompt_id: v.optional(v.string()),
  permission_mode: ifText,
  /** SessionStart: startup, resume, clear or compact. */
  source: v.optional(v.string()),
  /** Stop: a hook has already blocked Claude. */
  stop_hook_active: v.optional(v.boolean()),
  tool_name: v.optional(v.string()),
  tool_input: v.optional(
    v.looseObject({
      file_path: ifText,
      notebook_path: ifText,
      command: ifText,
    }),
  ),
  /** PermissionRequest: the CLI's offers besides a plain yes. */
  permission_suggestions: v.fallback(v.optional(v.array(v.unknown())), undefined),
  tool_response: v.optional(v.unknown()),
  tool_use_id: ifText,
  duration_ms: v.fallback(v.optional(v.number()), undefined),
  /** The subagent that called the tool. */
  agent_id: ifText,
  /** UserPromptSubmit: the prompt's text. */
  prompt: ifText,
  /** Stop: agents and commands of the turn that still run. */
  background_tasks: v.fallback(v.optional(v.array(v.unknown())), undefined),
});
export type HookInput = v.InferOutput<typeof Input>;

/** Throws an Error that names the wrong fields. */
export function parseInput(text: string): HookInput {
  const result = v.safeParse(Input, JSON.parse(text));
  if (result.success) return result.output;
  const fields = result.issues.map((issue) => v.getDotPath(issue) ?? "the whole");
  throw new Error(`the hook's input is wrong in: ${[...new Set(fields)].join(", ")}`);
}

/** The absolute path of the file that an editing tool edits; undefined for any other tool. */
export function editedPath(input: HookInput, cwd: string): string | undefined {
  if (!EDITING_TOOLS.includes(input.tool_name ?? "")) return undefined;
  const path = input.tool_input?.file_path ?? input.tool_input?.notebook_path;
  return path ? resolve(cwd, path) : undefined;
}

/** The paths that a tool changed. For Bash, the CLI reports them. */
export function changedPaths(input: HookInput, cwd: string): string[] {
  if (input.tool_name === "Bash") return changedByBash(input.tool_response);
  const path = editedPath(input, cwd);
  return path === undefined ? [] : [path];
}

export function createdFile(input: HookInput): boolean {
  const response = input.tool_response as { type?: unknown } | null | undefined;
  return response?.type === "create";
}
