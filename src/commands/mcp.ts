import { stateLog } from "../lib/log";
import { createStdioServer } from "../nvim-lsp/server";
import { StdioTransport } from "../transport/stdio";
import { usageError } from "./arguments";

/** `claude-code-nvim mcp`: the MCP server nvim-lsp on stdin and stdout, until stdin ends. */
export async function mcp(args: string[]): Promise<number> {
  if (args.length > 0) throw usageError(`mcp takes no arguments: ${args.join(" ")}`, "mcp");
  const transport = new StdioTransport();
  createStdioServer(stateLog("mcp.log")).connect(transport);
  await Promise.race([transport.ended, signalled()]);
  transport.close();
  return 0;
}

/** Claude Code ends its servers with SIGINT, then SIGTERM (measured with 2.1.330). */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.on(signal, () => resolve());
  });
}
