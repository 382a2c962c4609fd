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
  else
    for (const one of found) print(`${one.id}  ${new Date(one.at).toISOString()}  ${one.title}\n`);
  return 0;
}
