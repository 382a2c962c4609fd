import { basename } from "node:path";
import type { Result } from "../editor/methods";
import type { FilePath } from "../editor/model";
import { resolveUri, type UriPath } from "../editor/path";
import { EditorBusyError, type EditorPort } from "../editor/port";
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
      return {
        uri,
        mimeType: MIME_TYPE,
        text: await textOf(editor, open.path, remote?.folders).catch(rethrow),
      };
    },
  };
}

/** Of a document that changes while it is read. */
const MAX_READS = 10;

async function textOf(
  editor: EditorPort,
  path: FilePath,
  folders?: readonly string[],
): Promise<string> {
  for (let reads = 0; reads < MAX_READS; reads++) {
    const text = await readParts(editor, path, folders);
    if (text !== undefined) return text;
  }
  throw new EditorBusyError();
}

/** The document, which Neovim gives a moment at a time; undefined if it changed in between. */
async function readParts(
  editor: EditorPort,
  path: FilePath,
  shared?: readonly string[],
): Promise<string | undefined> {
  const parts: string[] = [];
  let tick: number | undefined;
  for (let from: number | undefined = 0; from !== undefined; ) {
    const part: Result<"document_text"> = await editor.call("document_text", {
      path,
      shared: shared && [...shared],
      from,
    });
    tick ??= part.tick;
    if (part.tick !== tick) return undefined;
    parts.push(part.text);
    from = part.next;
  }
  return parts.join("");
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
