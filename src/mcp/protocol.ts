/** The parts of the Model Context Protocol that we use (https://modelcontextprotocol.io). */

/** Oldest first. The last one is answered to a client whose version we do not know. */
const PROTOCOL_VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
type ProtocolVersion = (typeof PROTOCOL_VERSIONS)[number];

export function negotiateVersion(requested: string): ProtocolVersion {
  const known = PROTOCOL_VERSIONS.find((version) => version === requested);
  return known ?? (PROTOCOL_VERSIONS.at(-1) as ProtocolVersion);
}

interface TextContent {
  type: "text";
  text: string;
}

export interface ToolResult {
  content: TextContent[];
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

/** A result of one text block for each string. */
export function texts(...blocks: string[]): ToolResult {
  return { content: blocks.map((text) => ({ type: "text", text })) };
}

/** A result whose single text block is `value` as JSON: how the IDE tools answer with data. */
export function json(value: unknown): ToolResult {
  return texts(JSON.stringify(value));
}

/** A failure the model or the user can act on. Not a JSON-RPC error: the call itself was sound. */
export function failed(message: string): ToolResult {
  return { ...texts(message), isError: true };
}

export interface Resource {
  uri: string;
  name: string;
  mimeType?: string;
}

export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text: string;
}

export interface ImplementationInfo {
  name: string;
  version: string;
}

/** The name the Claude Code CLI gives in `initialize` (measured with 2.1.330). */
const CLAUDE_CODE = "claude-code";

/** The place of a client that may do less than this machine's user: a container, another machine. */
export interface Remote {
  /** As the user calls it. */
  readonly name: string;
  /** Real paths: the client may see only files below these. */
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
