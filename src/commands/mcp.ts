import { join } from "node:path";
import { Log } from "../lib/log";
import { stateFolder } from "../lib/paths";
import { createStdioServer } from "../nvim-lsp/server";
import { StdioTransport } from "../transport/stdio";

const LOG_LIMIT_BYTES = 1024 * 1024;

/** `claude-code-nvim mcp`: the MCP server nvim-lsp on stdin and stdout, until stdin ends. */
export async function mcp(args: string[]): Promise<number> {
  if (args.length > 0) {
    process.stderr.write(`claude-code-nvim: mcp takes no arguments: ${args.join(" ")}\n`);
    return 2;
  }
  const log = new Log({ file: join(stateFolder(), "mcp.log"), limitBytes: LOG_LIMIT_BYTES });
  const transport = new StdioTransport();
  createStdioServer(log).connect(transport);
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
