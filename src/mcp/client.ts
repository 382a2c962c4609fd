import type { ImplementationInfo } from "./protocol";

/** The name the Claude Code CLI gives in `initialize` (measured with 2.1.330). */
const CLAUDE_CODE = "claude-code";

/** Where a client runs that may not do all that this machine's user may: a container, another machine. */
export interface Remote {
  /** As the user calls it. */
  readonly name: string;
  /** Real paths: it may see what lies in these alone. */
  readonly folders: readonly string[];
  /** May the client learn of the file at this path? */
  sees(path: string): boolean;
}

/** One connected MCP client, for as long as its connection lasts. */
export interface Client {
  /** Unique in this process. */
  readonly id: number;
  /** undefined: it runs here, as the user. */
  readonly remote: Remote | undefined;
  /** From `initialize`; undefined before. */
  info: ImplementationInfo | undefined;
  /** From `ide_connected`; the CLI's own process id. */
  pid: number | undefined;
  /** When the client last sent anything, in ms on a clock that never goes back. */
  lastActive: number;
  notify(method: string, params: unknown): void;
}

/** Whether this is the genuine CLI, which writes accepted files itself and compares raw URIs. */
export function isClaudeCode(client: Pick<Client, "info">): boolean {
  return client.info?.name === CLAUDE_CODE;
}
