import type { Transport } from "../jsonrpc/message";
import { parseJson } from "../lib/json";
import { SHARED_FOLDERS } from "../lib/paths";
import type { NvimLspToolName } from "../nvim-lsp/tools";
import { Border, type Rules } from "./border";
import type { Crossing, Remote } from "./remote";
import { handshake, initialize, ping, type ToolRule, type ToolRules, toolRequests } from "./tools";

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

const reading = (input: ToolRule["input"]): ToolRule => ({ input, output });

const TOOLS: ToolRules<NvimLspToolName> = {
  find_symbol: reading({ symbol: "plain", path: "project", line: "plain", body: "plain" }),
  find_references: reading({
    symbol: "plain",
    path: "project",
    line: "plain",
    relation: "plain",
    within: "project",
    limit: "plain",
  }),
  outline: reading({ path: "project", depth: "plain" }),
  get_diagnostics: reading({ file_paths: "project" }),
  get_diagnostic_context: reading({ file_path: "project", line: "plain" }),
  get_diagnostic_summary: reading({}),
  get_session_diagnostics: reading({}),
  rename_symbol: "never",
  code_action: "never",
  editor_selection: "never",
  editor_position: "never",
  editor_buffers: "never",
  editor_context: "never",
};

const RULES: Rules = {
  requests: { ...toolRequests(TOOLS), initialize, ping },
  reports: handshake,
  notifications: {},
};
