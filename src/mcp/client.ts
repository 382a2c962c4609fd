import type { ImplementationInfo } from "./protocol";

/** The name the Claude Code CLI gives in `initialize` (measured with 2.1.330). */
const CLAUDE_CODE = "claude-code";

/** One connected MCP client, for as long as its connection lasts. */
export interface Client {
  /** Unique in this process. */
  readonly id: number;
  /** From `initialize`; undefined before. */
  info: ImplementationInfo | undefined;
  /** From `ide_connected`; the CLI's own process id. */
  pid: number | undefined;
  /** When the client last sent anything, in ms on a clock that never goes back. */
  lastActive: number;
  notify(method: string, params: unknown): void;
}

/** Whether this is the genuine CLI, which writes accepted files itself and compares raw URIs. */
export function isClaudeCode(client: Client): boolean {
  return client.info?.name === CLAUDE_CODE;
}
