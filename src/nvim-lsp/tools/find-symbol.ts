import * as v from "valibot";
import type { LanguageServers } from "../../language/servers";
import { symbolText } from "../../language/symbol-text";
import { texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import { ALWAYS_LOADED, SymbolLine, SymbolName, SymbolPath } from "./symbol-input";

/** Where a symbol is defined, and what it is. */
export function findSymbol(servers: LanguageServers): Tool<"find_symbol"> {
  return defineTool({
    name: "find_symbol",
    description:
      "Find where a function, type, method or variable is defined, with its signature and " +
      "documentation, by the user's language servers. Use it instead of Grep for a definition or a " +
      "type. Any occurrence of the name is enough; never count columns.",
    input: v.object({
      symbol: SymbolName,
      path: v.optional(SymbolPath),
      line: v.optional(SymbolLine),
      body: v.optional(v.pipe(v.boolean(), v.description("With the source")), false),
    }),
    annotations: { readOnlyHint: true },
    meta: ALWAYS_LOADED,
    async call({ body, ...input }, { signal }) {
      const { answer, source } = await servers.definition(input, body, signal);
      return texts(symbolText(answer, servers.project, source));
    },
  });
}
