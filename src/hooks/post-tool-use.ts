import type { Diagnostic } from "../editor/model";
import type { HookCall } from "./call";
import { createdFile, editedPath } from "./input";
import { problemLine, shown } from "./problem";

/** Longer contexts the CLI replaces by a preview (over 10,000 characters, measured with 2.1.330). */
const MOST_PROBLEMS = 20;

interface Edited {
  tell: boolean;
  deadline_ms: number;
}

interface News {
  settled: boolean;
  known: boolean;
  items: Diagnostic[];
}

export interface AdditionalContext {
  hookSpecificOutput: { hookEventName: "PostToolUse"; additionalContext: string };
}

/** A file was edited: Neovim follows, and Claude may hear of what is wrong with it now. */
export async function postToolUse(call: HookCall): Promise<AdditionalContext | undefined> {
  const path = editedPath(call.input, call.cwd);
  if (!path) return undefined;
  const about = { path, created: createdFile(call.input) };
  const edited = (await call.ask("session_edited", about)) as Edited | undefined;
  if (!edited?.tell) return undefined;
  const ask = () => call.ask("session_news", about) as Promise<News | undefined>;
  const news = await call.whenSettled(await ask(), edited.deadline_ms, ask);
  // What has not settled may be older than the edit; the Stop hook waits for it.
  if (!news?.settled || news.items.length === 0) return undefined;
  const additionalContext = told(path, news, call.cwd);
  return { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext } };
}

function told(path: string, { known, items }: News, root: string): string {
  const name = shown(path, root);
  const head = known
    ? `New problems in ${name} after this edit, as Neovim's language servers report them:`
    : `Problems in ${name} as Neovim's language servers report them (some may be older than this edit):`;
  const lines = items.slice(0, MOST_PROBLEMS).map((item) => problemLine(path, item, root));
  if (items.length > lines.length) lines.push(`… and ${items.length - lines.length} more`);
  return [head, ...lines].join("\n");
}
