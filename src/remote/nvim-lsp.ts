import type { Transport } from "../jsonrpc/message";
import { parseJson } from "../lib/json";
import { SHARED_FOLDERS } from "../lib/paths";
import { Border, type Rules } from "./border";
import type { Crossing, Remote } from "./remote";
import { handshake, initialize, ping, type ToolRule, toolRequests } from "./tools";

/**
 * The transport of an `nvim-lsp` that runs here for a client elsewhere, with `nvimLspEnvironment`: with it the
 * program and Neovim leave out what the client does not share, before any text is made of it.
 */
export function mcpBorder(transport: Transport, remote: Remote): Transport {
  return new Border(transport, remote, RULES);
}

/** The variables without which that program would answer for all files of this machine. */
export function nvimLspEnvironment({ map }: Remote): Record<string, string> {
  return { [SHARED_FOLDERS]: JSON.stringify(map.folders) };
}

/** Paths in it are from the project's top, or those of a shared folder. */
const output = (blocks: readonly string[], _asked: unknown, { remote: { map } }: Crossing) =>
  blocks.map((text) => {
    const data = parseJson(text);
    const isData = typeof data === "object" && data !== null;
    return isData ? JSON.stringify(map.dataToRemote(data)) : map.textToRemote(text);
  });

/** An argument means the same in each tool. */
const INPUT: ToolRule["input"] = {
  path: "project",
  within: "project",
  file_path: "project",
  file_paths: "project",
  symbol: "plain",
  line: "plain",
  body: "plain",
  relation: "plain",
  limit: "plain",
  depth: "plain",
};

/** Those that read. A remote neither edits by them, nor sees where the user is. */
const TOOLS = [
  ...["find_symbol", "find_references", "outline"],
  ...["get_diagnostics", "get_diagnostic_context", "get_diagnostic_summary"],
  "get_session_diagnostics",
];

const RULES: Rules = {
  requests: {
    ...toolRequests(Object.fromEntries(TOOLS.map((name) => [name, { input: INPUT, output }]))),
    initialize,
    ping,
  },
  reports: handshake,
  notifications: {},
};
