import type { EditorPort } from "../editor/port";
import type { Transport } from "../jsonrpc/message";
import type { Log } from "../lib/log";
import { NAME, VERSION } from "../lib/version";
import type { Client, Remote } from "../mcp/client";
import { McpServer } from "../mcp/server";
import { createMethods } from "../methods";
import { Diffs } from "./diffs/diffs";
import { REASON, Rejections } from "./diffs/rejections";
import { Notifications } from "./notifications";
import { createResources } from "./resources";
import { createTools } from "./tools";

/** Reaches the model as the instructions of the MCP server "ide". */
const INSTRUCTIONS =
  "Neovim MCP server for Claude integration: shows proposed edits as diffs and reads diagnostics.";

/** How long the last answers have to leave before the sockets are closed. */
const FLUSH_MS = 10;

export interface IdeServer {
  /** `remote`: the client runs there, and the transport lets pass only what it may. */
  connect(transport: Transport, remote?: Remote): void;
  /** Answers every diff that still waits: closing Neovim does not accept it. */
  end(): Promise<void>;
}

/**
 * The MCP server that Claude Code finds by the lock file. `onClientsChanged`: a client connected, gave its
 * name, or disconnected.
 */
export function createIdeServer(
  editor: EditorPort,
  log: Log,
  onClientsChanged: (clients: readonly Client[]) => void,
): IdeServer {
  const diffs = new Diffs(editor, log);
  const rejections = new Rejections(editor, diffs, log);
  const notifications = new Notifications(editor, log);
  const changed = () => onClientsChanged(server.clients);
  const server = new McpServer(
    {
      info: { name: NAME, version: VERSION },
      instructions: INSTRUCTIONS,
      tools: createTools(editor, diffs, rejections),
      resources: createResources(editor, [
        {
          uri: REASON,
          name: "why the user rejected an edit",
          take: (client) => rejections.read(client),
        },
        {
          uri: "review:comments",
          name: "your comments on lines of files",
          take: () => editor.call("review_comments", {}),
        },
      ]),
      methods: createMethods(editor),
    },
    {
      onConnect: changed,
      onIdentify: changed,
      onInitialized: (client) => notifications.initialized(client),
      onIdeConnected: (client) => notifications.ideConnected(client),
      onToolsListed: (client) => notifications.toolsListed(client),
      onToolCalled: (name, client) => notifications.toolCalled(name, client),
      onDisconnect: (client) => {
        notifications.gone(client);
        rejections.gone(client);
        void diffs.closeOf(client.id);
        changed();
      },
      onFault: (error, method) =>
        log.error(`${method} failed: ${describe(error)}`, `${method} failed`),
    },
  );
  return {
    connect: (transport, remote) => server.connect(transport, remote),
    async end() {
      diffs.rejectAll();
      await Bun.sleep(FLUSH_MS);
    },
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
