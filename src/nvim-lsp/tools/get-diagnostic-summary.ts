import * as v from "valibot";
import { json } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import type { FileProblems, NeovimProblems } from "../neovim/problems";
import { nameOf } from "./shapes";

/** Spec 04, section 2.2. */
export function getDiagnosticSummary(problems: NeovimProblems): Tool {
  return defineTool({
    name: "get_diagnostic_summary",
    description: "Get a summary of all diagnostics across the project: counts, and the files",
    input: v.object({}),
    annotations: { readOnlyHint: true },
    async call() {
      const { files, folders } = await problems.all();
      const counted = files
        .map((file) => ({
          file: nameOf(file, folders),
          errors: of(1, file),
          warnings: of(2, file),
        }))
        .filter(({ errors, warnings }) => errors + warnings > 0);
      return json({
        total_errors: counted.reduce((sum, { errors }) => sum + errors, 0),
        total_warnings: counted.reduce((sum, { warnings }) => sum + warnings, 0),
        files_with_issues: counted,
      });
    },
  });
}

function of(severity: number, { items }: FileProblems): number {
  return items.filter((item) => item.severity === severity).length;
}
