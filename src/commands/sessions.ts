import { print } from "../lib/output";
import { pastConversations } from "../sessions/conversations";
import { parseOptions } from "./arguments";

const OPTIONS = {
  json: { type: "boolean" },
  folder: { type: "string", multiple: true },
} as const;

/**
 * `claude-code-nvim sessions [--json] [--folder DIR]…`: the past conversations in the folders, or in the
 * working folder, and in the work trees of their repositories.
 */
export async function sessions(args: string[]): Promise<number> {
  const { json, folder } = parseOptions(args, OPTIONS, "sessions [--json] [--folder DIR]...");
  const found = pastConversations(folder ?? [process.cwd()]);
  if (json) print(`${JSON.stringify({ conversations: found })}\n`);
  else for (const one of found) print(`${one.id}  ${date(one.at)}  ${one.title}\n`);
  return 0;
}

/** In local time, to the minute. */
function date(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16).replace("T", " ");
}
