import { SERVER_NAME } from "../claude/names";
import type { Log } from "../lib/log";
import { FollowedNeovim } from "../locate/followed";
import { McpServer } from "../mcp/server";
import { createMethodTools } from "../methods";
import { VERSION } from "../version";
import { NeovimProblems } from "./problems";
import { NeovimState } from "./state";
import { createNvimLspTools } from "./tools";

const INSTRUCTIONS = `What the user's Neovim knows: diagnostics of language servers and linters, and the state of the editor.

When you edit files, the system checks for errors and warnings before you may end your turn. If there are any you are asked to fix them once; then you may end.
- get_session_diagnostics: what is wrong in the files you edited in this session
- get_diagnostics: all open buffers, or the files you name
- get_diagnostic_context: the code around one line, with its diagnostics
- get_diagnostic_summary: counts for the whole project
- editor_selection, editor_position, editor_buffers, editor_context: what the user has selected and open

Fix errors before warnings. Ask after you have edited rather than before.`;

/** The MCP server that Claude Code starts as a program of its own. */
export function createStdioServer(log: Log, env = process.env): McpServer {
  const project = env.CLAUDE_PROJECT_DIR;
  const places = [...new Set([...(project ? [project] : []), process.cwd()])];
  const neovim = new FollowedNeovim(places, log, process.ppid);
  const session = env.CLAUDE_CODE_SESSION_ID;
  const problems = new NeovimProblems(neovim, { pid: process.ppid, ...(session && { session }) });
  return new McpServer(
    {
      info: { name: SERVER_NAME, version: VERSION },
      instructions: INSTRUCTIONS,
      tools: [...createNvimLspTools(problems), ...createMethodTools(new NeovimState(neovim))],
    },
    {
      onDisconnect: () => neovim.close(),
      onFault: (error, tool) => log.warn(`${tool}: ${error}`, tool),
    },
  );
}
