import { basename } from "node:path";
import { resolveUri, type UriPath } from "../editor/path";
import type { EditorPort } from "../editor/port";
import { bufferAt, loadedFiles } from "../editor/state";
import { ErrorCode, RpcError } from "../jsonrpc/message";
import { fileUri } from "../lib/file-uri";
import type { Resources } from "../mcp/definition";
import { rethrow } from "../methods";

const MIME_TYPE = "text/plain";

/** The open file buffers as MCP resources, with their unsaved text. */
export function openBuffers(editor: EditorPort): Resources {
  return {
    async list() {
      const state = await editor.sync().catch(rethrow);
      return loadedFiles(state).map(({ path }) => ({
        uri: fileUri(path),
        name: basename(path),
        mimeType: MIME_TYPE,
      }));
    },
    async read(uri, { remote }) {
      const state = await editor.sync().catch(rethrow);
      const open = resolved(uri).find(({ path }) => bufferAt(state, path)?.loaded);
      if (!open) {
        const message = `No open buffer for ${uri}: resources/list names those that are open`;
        throw new RpcError(ErrorCode.ResourceNotFound, message, { uri });
      }
      const shared = remote?.folders && [...remote.folders];
      const text = await editor.call("document_text", { path: open.path, shared }).catch(rethrow);
      return { uri, mimeType: MIME_TYPE, text };
    },
  };
}

/** All as one: each of the others reads what it `owns`, the first the rest. */
export function combined(
  first: Resources,
  ...others: (Resources & { owns(uri: string): boolean })[]
): Resources {
  const all = [first, ...others];
  return {
    list: async (client) => (await Promise.all(all.map((one) => one.list(client)))).flat(),
    read: (uri, client) => (others.find((other) => other.owns(uri)) ?? first).read(uri, client),
  };
}

/** What is refused is not open. */
function resolved(uri: string): UriPath[] {
  try {
    return resolveUri(uri);
  } catch {
    return [];
  }
}
