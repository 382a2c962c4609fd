import * as v from "valibot";
import { json } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import type { NeovimProblems } from "../neovim/problems";
import { byFile } from "./shapes";

const Paths = v.optional(
  v.pipe(
    v.nullable(v.union([v.array(v.string()), v.string()])),
    v.description("Files to check, as a list or a single path; all open buffers if left out"),
  ),
);

/** Spec 04, section 2.2. */
export function getDiagnostics(problems: NeovimProblems): Tool {
  return defineTool({
    name: "get_diagnostics",
    description:
      "Get LSP diagnostics for specific files or all buffers: path → line and column (1-based), severity, message, source",
    input: v.object({ file_paths: Paths }),
    annotations: { readOnlyHint: true },
    async call({ file_paths }) {
      const paths = typeof file_paths === "string" ? [file_paths] : (file_paths ?? []);
      if (paths.length === 0) return json(byFile(await problems.all()));
      const files = paths.map((path) => problems.candidates(path));
      return json(byFile(await problems.of(files)));
    },
  });
}
