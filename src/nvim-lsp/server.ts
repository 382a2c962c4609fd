import { SERVER_NAME } from "../claude/names";
import type { MethodName, Params } from "../editor/methods";
import type { Delta } from "../editor/model";
import { EditorState } from "../editor/state";
import { LanguageServers } from "../language/servers";
import type { Log } from "../lib/log";
import { normal } from "../lib/platform";
import { VERSION } from "../lib/version";
import { FollowedNeovim } from "../locate/followed";
import { McpServer } from "../mcp/server";
import { createMethodTools, type MethodEditor } from "../methods";
import { checked } from "../neovim/editor";
import { LanguageEdits } from "./edits/language-edits";
import { type Caller, diagnosticsTools } from "./tools/diagnostics";
import { codeAction, renameSymbol } from "./tools/edits";
import { findReferences, findSymbol, outline } from "./tools/language";

const INSTRUCTIONS = `What the user's Neovim knows: its language servers, its diagnostics, and what the user looks at.

To find a definition, every use or implementations of a symbol: find_symbol and find_references, not Grep; they know the user's unsaved text. Grep for words in comments, strings and configuration. To rename a symbol: rename_symbol.

When you edit files, the system checks for errors and warnings before you may end your turn. If there are any you are asked to fix them once; then you may end. get_session_diagnostics lists what is wrong in the files you edited, get_diagnostics what is wrong in any others. Fix errors before warnings. Ask after you have edited rather than before.`;

/** We list the project's files this long after the CLI's start. */
const FIRST_LOOK_MS = 500;

/** The MCP server on stdio, which Claude Code starts. */
export function createStdioServer(log: Log): McpServer {
  const project = process.env.CLAUDE_PROJECT_DIR;
  const places = [...new Set([...(project ? [project] : []), process.cwd()].map(normal))];
  const neovim = new FollowedNeovim(places, log, process.ppid);
  const session = process.env.CLAUDE_CODE_SESSION_ID;
  const caller = { pid: process.ppid, ...(session && { session }) };
  const servers = new LanguageServers(neovim);
  const edits = new LanguageEdits(neovim, caller, log);
  return new McpServer(
    {
      info: { name: SERVER_NAME, version: VERSION },
      instructions: INSTRUCTIONS,
      tools: [
        ...createNvimLspTools(neovim, caller, servers, edits),
        ...createMethodTools(stateOf(neovim)),
      ],
    },
    {
      // Claude Code no longer waits for us.
      onToolsListed: () => void setTimeout(() => servers.changed.start(), FIRST_LOOK_MS).unref(),
      onDisconnect: () => neovim.close(),
      onFault: (error, tool) => log.warn(`${tool}: ${error}`, tool),
    },
  );
}

/** The state of the followed Neovim, which we ask for each time. */
function stateOf(neovim: FollowedNeovim): MethodEditor {
  const call = async <M extends MethodName>(method: M, params: Params<M>) =>
    checked(method, await neovim.ask(method, params));
  return {
    call,
    async sync() {
      const state = new EditorState();
      state.apply({ ...(await call("snapshot", {})), full: true } as Delta);
      return state;
    },
  };
}

/** The tools for questions to language servers and their edits, and those of spec 04. */
export function createNvimLspTools(
  neovim: FollowedNeovim,
  caller: Caller,
  servers: LanguageServers,
  edits: LanguageEdits,
) {
  return [
    findSymbol(servers),
    findReferences(servers),
    outline(servers),
    renameSymbol(edits, servers),
    codeAction(edits, servers),
    ...diagnosticsTools(neovim, caller),
  ];
}
