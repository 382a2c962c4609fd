import * as v from "valibot";
import { References } from "../../language/references";
import { type LanguageServers, RELATIONS } from "../../language/servers";
import { isManageable } from "../../language/within";
import { failed, texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import { ALWAYS_LOADED, SymbolLine, SymbolName, SymbolPath } from "./symbol-input";

/** Where a symbol is used, or what is related to it. */
export function findReferences(servers: LanguageServers): Tool<"find_references"> {
  const references = new References(servers);
  return defineTool({
    name: "find_references",
    description:
      "List every use of a symbol, or its implementations, callers, subtypes and so on: " +
      "by file, with line, enclosing function and code, by the user's language servers: without " +
      "comments, strings and namesakes, with aliases. Use it instead of Grep when you need all uses. " +
      "The last line says whether the list is complete.",
    input: v.object({
      symbol: SymbolName,
      path: v.optional(SymbolPath),
      line: v.optional(SymbolLine),
      relation: v.optional(v.picklist(RELATIONS), "references"),
      within: v.optional(
        v.pipe(
          v.string(),
          v.maxLength(1_000),
          v.check(isManageable, "More than 1,000 alternatives in braces"),
          v.description("Only files of this glob or folder"),
        ),
      ),
      limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000)), 60),
    }),
    annotations: { readOnlyHint: true },
    meta: ALWAYS_LOADED,
    async call({ relation, within, limit, ...input }, { signal }) {
      const shown = { relation, within, limit };
      const { text, isError } = await references.find(input, shown, signal);
      return isError ? failed(text) : texts(text);
    },
  });
}
