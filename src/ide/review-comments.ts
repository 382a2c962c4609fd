import type { EditorPort } from "../editor/port";
import { rethrow } from "../editor/rpc-error";
import { ErrorCode, RpcError } from "../jsonrpc/message";
import { type Client, isClaudeCode } from "../mcp/client";
import type { Resources } from "../mcp/definition";

/** Without `//`: of two slashes in a mention the CLI drops one (measured with 2.1.330). */
const URI = "review:comments";

/**
 * The user's comments that Claude has not received, as a resource. A CLI outside of Neovim gets a
 * mention of it in its prompt, and reads it when the user submits that: from then on they count as
 * sent. It is always in the CLI's list, since a mention of what is not there stays a mere word.
 */
export function reviewComments(editor: EditorPort): Resources & { owns(uri: string): boolean } {
  return {
    owns: (uri) => uri === URI,
    list: (client: Client) =>
      isClaudeCode(client)
        ? [{ uri: URI, mimeType: "text/plain", name: "your comments on lines of files" }]
        : [],
    async read(uri, client) {
      // Reading takes them: they count as sent.
      if (!isClaudeCode(client)) {
        throw new RpcError(ErrorCode.ResourceNotFound, `No such resource: ${uri}`, { uri });
      }
      return { uri, mimeType: "text/plain", text: await editor.takeComments().catch(rethrow) };
    },
  };
}
