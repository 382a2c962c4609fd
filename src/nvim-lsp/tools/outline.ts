import * as v from "valibot";
import { outlineText } from "../../language/outline-text";
import type { LanguageServers } from "../../language/servers";
import { texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";

/** What a file, or each file of a folder, declares. */
export function outline(servers: LanguageServers): Tool<"outline"> {
  return defineTool({
    name: "outline",
    description:
      "List what a file declares, or each file of a folder: classes, functions, methods and types, " +
      "with their lines. Instead of reading a long file.",
    input: v.object({
      path: v.pipe(v.string(), v.description("A file or folder")),
      depth: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10), v.description("Levels")),
        2,
      ),
    }),
    annotations: { readOnlyHint: true },
    async call({ path, depth }, { signal }) {
      return texts(outlineText(await servers.outline(path, signal), depth, servers.project));
    },
  });
}
