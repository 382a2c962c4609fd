import { basename } from "node:path";
import type { EditorPort } from "../editor/methods";
import { resolveUri } from "../editor/path";
import { bufferAt, loadedFiles } from "../editor/state";
import { ErrorCode, RpcError, type Transport } from "../jsonrpc/message";
import { attempt } from "../lib/attempt";
import { fileUri } from "../lib/file-uri";
import type { Log } from "../lib/log";
import { NAME, VERSION } from "../lib/version";
import { type Client, isClaudeCode, type Remote } from "../mcp/protocol";
import { McpServer, type Resources } from "../mcp/server";
import { createMethods } from "../methods";
import { Diffs, REASON, Rejections } from "./diffs";
import { Notifications } from "./notifications";
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

const MIME_TYPE = "text/plain";

/**
 * A text of the user's that Claude has not received, as a resource. A CLI outside of Neovim gets a
 * mention of it in its prompt, and reads it when the user submits that: from then on it counts as
 * sent. It is always in the CLI's list, since a mention of what is not there stays a mere word.
 */
interface UserText {
  /** Without `//`, as of two slashes in a mention the CLI drops one (measured with 2.1.330). */
  uri: string;
  name: string;
  /** Reading takes the text. */
  take(client: Client): string | Promise<string>;
}

/** The open file buffers as MCP resources, with their unsaved text, and for Claude Code the user's texts. */
function createResources(editor: EditorPort, userTexts: readonly UserText[]): Resources {
  const textsFor = (client: Client) => (isClaudeCode(client) ? userTexts : []);
  return {
    async list(client) {
      const state = await editor.sync();
      const files = loadedFiles(state).map(({ path }) => ({
        uri: fileUri(path),
        name: basename(path),
      }));
      const all = [...files, ...textsFor(client).map(({ uri, name }) => ({ uri, name }))];
      return all.map((one) => ({ ...one, mimeType: MIME_TYPE }));
    },
    async read(uri, client) {
      const own = textsFor(client).find((one) => one.uri === uri);
      const text = own ? await own.take(client) : await bufferText(editor, uri, client);
      return { uri, mimeType: MIME_TYPE, text };
    },
  };
}

async function bufferText(editor: EditorPort, uri: string, { remote }: Client): Promise<string> {
  const state = await editor.sync();
  // A path that is refused is not open.
  const paths = attempt(() => resolveUri(uri));
  const open = paths?.find(({ path }) => bufferAt(state, path)?.loaded);
  if (!open) {
    const message = `No open buffer for ${uri}: resources/list names those that are open`;
    throw new RpcError(ErrorCode.ResourceNotFound, message, { uri });
  }
  const shared = remote?.folders && [...remote.folders];
  return editor.call("document_text", { path: open.path, shared });
}
