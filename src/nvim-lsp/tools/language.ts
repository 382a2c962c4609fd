import * as v from "valibot";
import { type LanguageServers, RELATIONS } from "../../language/servers";
import { LanguageText } from "../../language/text";
import { failed, texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";

export const MAX_NAME = 1_000;

export const SymbolName = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1),
  v.maxLength(MAX_NAME),
  v.description("The name; Parser.parse for one of several"),
);

export const SymbolLine = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.description("Its line there, from 1"),
);

const SymbolPath = v.pipe(v.string(), v.description("A file in which the name occurs"));

/** Otherwise, Claude Code hides tools behind a search (measured with 2.1.330). */
export const ALWAYS_LOADED = { "anthropic/alwaysLoad": true };

/** Shows the definition of a symbol, and its documentation. */
export function findSymbol(servers: LanguageServers): Tool {
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
    }),
    annotations: { readOnlyHint: true },
    meta: ALWAYS_LOADED,
    async call({ path, ...symbol }, { signal }) {
      const answer = await servers.ask("find_symbol", path, symbol, signal);
      return texts(new LanguageText(servers.project).symbol(answer));
    },
  });
}

/** Lists the uses or implementations of a symbol. */
export function findReferences(servers: LanguageServers): Tool {
  return defineTool({
    name: "find_references",
    description:
      "List every use of a symbol, or its implementations, as the user's language servers report " +
      "them: by file, with line and code, without comments, strings and namesakes. Use it instead of " +
      "Grep when you need all uses. The last line says who answered, and whether the list may be " +
      "incomplete.",
    input: v.object({
      symbol: SymbolName,
      path: v.optional(SymbolPath),
      line: v.optional(SymbolLine),
      relation: v.optional(v.picklist(RELATIONS), "references"),
      within: v.optional(
        v.pipe(v.string(), v.description("Only below this folder, from the project's top")),
      ),
      limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000)), 60),
    }),
    annotations: { readOnlyHint: true },
    meta: ALWAYS_LOADED,
    async call({ within, limit, path, ...question }, { signal }) {
      const answer = await servers.ask("find_references", path, question, signal);
      const shown = { relation: question.relation, within, limit };
      const { text, isError } = new LanguageText(servers.project).references(answer, shown);
      return isError ? failed(text) : texts(text);
    },
  });
}

export function outline(servers: LanguageServers): Tool {
  return defineTool({
    name: "outline",
    description:
      "List what a file declares: classes, functions, methods and types, with their lines. Instead " +
      "of reading a long file.",
    input: v.object({
      path: v.string(),
      depth: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10), v.description("Levels")),
        2,
      ),
    }),
    annotations: { readOnlyHint: true },
    async call({ path, depth }, { signal }) {
      const answer = await servers.ask("outline", path, {}, signal);
      return texts(new LanguageText(servers.project).outline(answer, depth));
    },
  });
}
