import { join } from "node:path";
import { conversationsFolder, conversationsOf } from "../claude/config-dir";
import { namesIn, newestFiles } from "../lib/paths";

const ID = /^[\w-]+$/;

/**
 * The file in which the CLI writes a session's conversation, or that of one of its subagents: `projects/*` in
 * Claude Code's folder (measured with 2.1.330). Undefined before the first entry.
 */
export function transcriptOf(session: string, agent?: string): string | undefined {
  if (!ID.test(session) || (agent !== undefined && !ID.test(agent))) return undefined;
  const name =
    agent === undefined ? `${session}.jsonl` : join(session, "subagents", `agent-${agent}.jsonl`);
  const root = conversationsFolder();
  // Of a resumed session another work tree may have an older one.
  return newestFiles(namesIn(root).map((folder) => join(root, folder, name)))[0]?.path;
}

/** Where the CLI will write it. */
export function expectedPath(session: string, cwd: string): string {
  return join(conversationsFolder(), conversationsOf(cwd), `${session.replaceAll("/", "-")}.jsonl`);
}
