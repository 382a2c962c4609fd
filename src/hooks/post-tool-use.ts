import type { Diagnostic } from "../editor/model";
import type { HookCall } from "./call";
import { createdFile, editedPath } from "./input";
import { problemLine, shown } from "./problem";

/** Longer contexts the CLI replaces by a preview (over 10,000 characters, measured with 2.1.330). */
const MOST_PROBLEMS = 20;

/** What `session_edited` answers (lua/claude-code/editor/session). */
interface Edited {
  report: boolean;
  timeout_ms: number;
}

/** What `session_new_problems` answers. */
interface NewProblems {
  settled: boolean;
  known: boolean;
  items: Diagnostic[];
}

export interface AdditionalContext {
  hookSpecificOutput: { hookEventName: "PostToolUse"; additionalContext: string };
}

/** A file was edited: Neovim shows it, and Claude may receive what is wrong with it now. */
export async function postToolUse(call: HookCall): Promise<AdditionalContext | undefined> {
  const path = editedPath(call.input, call.cwd);
  if (!path) return undefined;
  const params = { path, created: createdFile(call.input) };
  const edited = (await call.ask("session_edited", params)) as Edited | undefined;
  if (!edited?.report) return undefined;
  const answer = await call.askWhenSettled("session_new_problems", params, edited.timeout_ms);
  const found = answer as NewProblems | undefined;
  // What has not settled may be older than the edit; the Stop hook waits for it.
  if (!found?.settled || found.items.length === 0) return undefined;
  const additionalContext = report(path, found, call.cwd);
  return { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext } };
}

function report(path: string, { known, items }: NewProblems, root: string): string {
  const name = shown(path, root);
  const head = known
    ? `New problems in ${name} after this edit, as Neovim's language servers report them:`
    : `Problems in ${name} as Neovim's language servers report them (some may be older than this edit):`;
  const lines = items.slice(0, MOST_PROBLEMS).map((item) => problemLine(path, item, root));
  if (items.length > lines.length) lines.push(`… and ${items.length - lines.length} more`);
  return [head, ...lines].join("\n");
}
