import { existsSync } from "node:fs";
import type { Result } from "../editor/methods";
import { shownPath } from "../lib/paths";
import type { HookCall } from "./call";
import { changedPaths, createdFile } from "./input";
import { problemLine } from "./problem";

/** The CLI replaces a context of over 10,000 characters with a preview (measured with 2.1.330). */
const MAX_PROBLEMS = 20;

/** For one command: Neovim loads each file, and a codemod may change thousands. */
const MAX_FILES = 50;

/** An editing tool or Bash has changed files. Neovim shows them, and reports new problems in them to Claude. */
export async function postToolUse(call: HookCall) {
  const paths = changedPaths(call.input, call.cwd).filter((path) => existsSync(path));
  const reports: string[] = [];
  for (const path of paths.slice(0, MAX_FILES)) {
    const text = await edited(call, path);
    if (text) reports.push(text);
  }
  if (reports.length === 0) return undefined;
  const additionalContext = reports.join("\n\n");
  return { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext } };
}

async function edited(call: HookCall, path: string): Promise<string | undefined> {
  const params = { path, created: createdFile(call.input) };
  const answer = await call.ask("session_edited", params);
  // The Stop hook reports problems in files that Bash changed: one command may change many files.
  if (!answer?.report || call.input.tool_name === "Bash") return undefined;
  const times = { waitMs: answer.timeout_ms };
  const found = await call.askWhenSettled("session_new_problems", params, times);
  // Unsettled problems may be older than the edit. The Stop hook waits until they have settled.
  if (!found?.settled || found.items.length === 0) return undefined;
  return report(path, found, call.cwd);
}

function report(
  path: string,
  { known, items }: Result<"session_new_problems">,
  root: string,
): string {
  const name = shownPath(path, root);
  const head = known
    ? `New problems in ${name} after this edit, as Neovim's language servers report them:`
    : `Problems in ${name} as Neovim's language servers report them (some may be older than this edit):`;
  const lines = items.slice(0, MAX_PROBLEMS).map((item) => problemLine(path, item, root));
  if (items.length > lines.length) lines.push(`… and ${items.length - lines.length} more`);
  return [head, ...lines].join("\n");
}
