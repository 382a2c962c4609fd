/** The parts of the Model Context Protocol that we use (https://modelcontextprotocol.io). */

/** From the oldest to the newest. A client with an unknown version gets the newest. */
const PROTOCOL_VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
type ProtocolVersion = (typeof PROTOCOL_VERSIONS)[number];

export function negotiateVersion(requested: string): ProtocolVersion {
  const known = PROTOCOL_VERSIONS.find((version) => version === requested);
  return known ?? (PROTOCOL_VERSIONS.at(-1) as ProtocolVersion);
}

export interface ToolResult {
  content: { type: "text"; text: string }[];
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

/** A result of one text block for each string. */
export function texts(...blocks: string[]): ToolResult {
  return { content: blocks.map((text) => ({ type: "text", text })) };
}

/** A result of one text block with `value` as JSON. */
export function json(value: unknown): ToolResult {
  return texts(JSON.stringify(value));
}

/** A failure that the model or the user can act on. It is not a JSON-RPC error, since the call was valid. */
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

/** The CLI's name in `initialize` (measured with 2.1.330). */
const CLAUDE_CODE = "claude-code";

/** A container or another machine. Its clients may do less than this machine's user. */
export interface Remote {
  /** The user's name for it. */
  readonly name: string;
  /** Real paths. The client may see only files in these folders. */
  readonly folders: readonly string[];
  /** True if the client may learn of the file at this path. */
  sees(path: string): boolean;
}

/** One connected MCP client. */
export interface Client {
  readonly id: number;
  /** Undefined if the client runs on this machine, as the user. */
  readonly remote: Remote | undefined;
  /** From `initialize`; undefined before. */
  info: ImplementationInfo | undefined;
  /** The CLI's process id, from `ide_connected`. */
  pid: number | undefined;
  /** The time of the client's last message, by performance.now(). */
  lastActive: number;
  notify(method: string, params: unknown): void;
}

/** True for the genuine CLI, which writes accepted files itself and compares raw URIs. */
export function isClaudeCode(client: Pick<Client, "info">): boolean {
  return client.info?.name === CLAUDE_CODE;
}
