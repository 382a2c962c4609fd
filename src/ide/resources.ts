import { basename } from "node:path";
import { resolveUri } from "../editor/path";
import type { EditorPort } from "../editor/port";
import { bufferAt, loadedFiles } from "../editor/state";
import { ErrorCode, RpcError } from "../jsonrpc/message";
import { attempt } from "../lib/attempt";
import { fileUri } from "../lib/file-uri";
import { type Client, isClaudeCode } from "../mcp/client";
import type { Resources } from "../mcp/definition";

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
export function createResources(editor: EditorPort, userTexts: readonly UserText[]): Resources {
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
