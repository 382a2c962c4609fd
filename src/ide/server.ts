import type { EditorPort } from "../editor/methods";
import { resolveUri } from "../editor/path";
import { bufferAt, loadedFiles } from "../editor/state";
import { ErrorCode, RpcError, type Transport } from "../jsonrpc/message";
import { attempt } from "../lib/errors";
import { fileUri } from "../lib/file-uri";
import type { Log } from "../lib/log";
import { basename } from "../lib/platform";
import { NAME, VERSION } from "../lib/version";
import { type Client, isClaudeCode, type Remote } from "../mcp/protocol";
import { McpServer, type Resources } from "../mcp/server";
import { createMethods } from "../methods";
import { Diffs, REASON, Rejections } from "./diffs";
import { Notifications } from "./notifications";
import { createTools } from "./tools";

/** The model gets this as the instructions of the MCP server "ide". */
const INSTRUCTIONS =
  "Neovim MCP server for Claude integration: shows proposed edits as diffs and reads diagnostics.";

/** In ms: the last answers are sent in this time, before the sockets are closed. */
const FLUSH_MS = 10;

export interface IdeServer {
  /** `remote` is where the client runs. Its transport lets only permitted messages pass. */
  connect(transport: Transport, remote?: Remote): void;
  /** Rejects every open diff: closing Neovim does not accept it. */
  end(): Promise<void>;
}

/** The MCP server of the lock file. Calls `onClientsChanged` when a client connects, gives its name, or disconnects. */
export function createIdeServer(
  editor: EditorPort,
  log: Log,
  onClientsChanged: (clients: readonly Client[]) => void,
): IdeServer {
  const diffs = new Diffs(editor, log);
  const rejections = new Rejections(editor, diffs, log);
  const notifications = new Notifications(editor, log);
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
      onChange: () => onClientsChanged(server.clients),
      onInitialized: (client) => notifications.initialized(client),
      onIdeConnected: (client) => notifications.ideConnected(client),
      onToolsListed: (client) => notifications.toolsListed(client),
      onToolCalled: (name, client) => notifications.toolCalled(name, client),
      onDisconnect: (client) => {
        notifications.gone(client);
        rejections.gone(client);
        void diffs.closeOf(client.id);
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
 * A resource with a text from the user that Claude has not received. A CLI outside of Neovim gets a mention of it in
 * its prompt, and reads the resource when the user submits the prompt; then the text counts as sent. The resource is
 * always in the CLI's list: without it, the CLI would not recognize the mention.
 */
interface UserText {
  /** Has no `//`: the CLI turns two slashes in a mention into one (measured with 2.1.330). */
  uri: string;
  name: string;
  /** Returns the text, which then counts as sent. */
  take(client: Client): string | Promise<string>;
}

/** The open files as MCP resources, with their unsaved text, and for Claude Code the user's texts. */
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
  // A path that we refuse is not open.
  const paths = attempt(() => resolveUri(uri));
  const open = paths?.find(({ path }) => bufferAt(state, path)?.loaded);
  if (!open) {
    const message = `No open buffer for ${uri}: resources/list names those that are open`;
    throw new RpcError(ErrorCode.ResourceNotFound, message, { uri });
  }
  const shared = remote?.folders && [...remote.folders];
  return editor.call("document_text", { path: open.path, shared });
}
