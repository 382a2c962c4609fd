import { stateLog } from "../lib/log";
import { signalled } from "../lib/process";
import { createStdioServer } from "../nvim-lsp/server";
import { findRelay, mcpByRelay } from "../remote/inside";
import { StdioTransport } from "../transport/stdio";
import { usageError } from "./arguments";

/** `claude-code-nvim mcp` runs the MCP server nvim-lsp on stdin and stdout, until stdin ends. */
export async function mcp(args: string[]): Promise<number> {
  if (args.length > 0) throw usageError(`mcp takes no arguments: ${args.join(" ")}`, "mcp");
  const relay = findRelay(process.env, process.env.CLAUDE_PROJECT_DIR ?? process.cwd());
  if (relay) {
    await Promise.race([mcpByRelay(relay), signalled()]);
    return 0;
  }
  const transport = new StdioTransport();
  createStdioServer(stateLog("mcp.log")).connect(transport);
  // Claude Code ends its servers with SIGINT, then SIGTERM (measured with 2.1.330).
  await Promise.race([transport.ended, signalled()]);
  transport.close();
  return 0;
}
