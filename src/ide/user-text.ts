import { ErrorCode, RpcError } from "../jsonrpc/message";
import { type Client, isClaudeCode } from "../mcp/client";
import type { Resources } from "../mcp/definition";

/**
 * A text of the user's that Claude has not received, as a resource. A CLI outside of Neovim gets a
 * mention of it in its prompt, and reads it when the user submits that: from then on it counts as
 * sent. It is always in the CLI's list, since a mention of what is not there stays a mere word.
 * `uri`: without `//`, as of two slashes in a mention the CLI drops one (measured with 2.1.330).
 * `take`: reading takes the text.
 */
export function userText(
  uri: string,
  name: string,
  take: (client: Client) => string | Promise<string>,
): Resources & { owns(uri: string): boolean } {
  return {
    owns: (wanted) => wanted === uri,
    list: (client) => (isClaudeCode(client) ? [{ uri, mimeType: "text/plain", name }] : []),
    async read(_, client) {
      if (!isClaudeCode(client)) {
        throw new RpcError(ErrorCode.ResourceNotFound, `No such resource: ${uri}`, { uri });
      }
      return { uri, mimeType: "text/plain", text: await take(client) };
    },
  };
}
