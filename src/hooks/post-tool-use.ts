import { existsSync } from "node:fs";
import type { Result } from "../editor/methods";
import { shownPath } from "../lib/paths";
import type { HookCall } from "./call";
import { changedPaths, createdFile } from "./input";
import { problemLine } from "./problem";

/** Longer contexts the CLI replaces by a preview (over 10,000 characters, measured with 2.1.330). */
const MAX_PROBLEMS = 20;

/** The most of one command; a codemod may change thousands, each of which Neovim would load. */
const MAX_FILES = 50;

/**
 * Files were edited, by an editing tool or by Bash: Neovim shows them, and Claude may receive what is
 * wrong with them now.
 */
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
  // A file that Bash changed is reported by the Stop hook: a command may change many at once.
  if (!answer?.report || call.input.tool_name === "Bash") return undefined;
  const times = { waitMs: answer.timeout_ms };
  const found = await call.askWhenSettled("session_new_problems", params, times);
  // Unsettled problems may be older than the edit; the Stop hook waits for them.
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
