import { resolve } from "node:path";
import * as v from "valibot";
import { EDITING_TOOLS } from "../claude/editing-tools";

/** The parts we use of what Claude Code writes to a hook's stdin (measured with 2.1.330). */
const Input = v.object({
  session_id: v.pipe(v.string(), v.nonEmpty()),
  cwd: v.optional(v.string()),
  /** One per prompt of the user; older versions send none. */
  prompt_id: v.optional(v.string()),
  /** SessionStart: startup, resume, clear or compact. */
  source: v.optional(v.string()),
  /** Stop: some hook has blocked Claude already. */
  stop_hook_active: v.optional(v.boolean()),
  tool_name: v.optional(v.string()),
  tool_input: v.optional(
    v.object({ file_path: v.optional(v.string()), notebook_path: v.optional(v.string()) }),
  ),
  tool_response: v.optional(v.unknown()),
});
export type HookInput = v.InferOutput<typeof Input>;

/** Throws an Error that names what is wrong. */
export function parseInput(text: string): HookInput {
  const result = v.safeParse(Input, JSON.parse(text));
  if (result.success) return result.output;
  const fields = result.issues.map((issue) => v.getDotPath(issue) ?? "the whole");
  throw new Error(`the hook's input is wrong in: ${[...new Set(fields)].join(", ")}`);
}

/** The absolute path of the file that the tool has edited; undefined for any other tool. */
export function editedPath(input: HookInput, cwd: string): string | undefined {
  if (!EDITING_TOOLS.includes(input.tool_name ?? "")) return undefined;
  const path = input.tool_input?.file_path ?? input.tool_input?.notebook_path;
  return path ? resolve(cwd, path) : undefined;
}

/** Whether the tool has made the file. */
export function createdFile(input: HookInput): boolean {
  const response = input.tool_response as { type?: unknown } | null | undefined;
  return response?.type === "create";
}
