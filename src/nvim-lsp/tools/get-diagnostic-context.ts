import * as v from "valibot";
import { EditorRefusal } from "../../editor/port";
import { json, type ToolResult } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import type { NeovimProblems } from "../neovim/problems";
import { listed } from "./shapes";

/** Lines shown before and behind the one that is asked for. */
const AROUND = 5;

const Input = v.object({
  file_path: v.pipe(v.string(), v.description("The file, absolute or relative to the workspace")),
  line: v.pipe(v.number(), v.integer(), v.minValue(1), v.description("Line number, from 1")),
});

/** Spec 04, section 2.2. */
export function getDiagnosticContext(problems: NeovimProblems): Tool {
  return defineTool({
    name: "get_diagnostic_context",
    description: "Get the code around a diagnostic, with the diagnostics of that line",
    input: Input,
    annotations: { readOnlyHint: true },
    async call({ file_path, line }) {
      try {
        const found = await problems.around(problems.candidates(file_path), line, AROUND);
        return json({
          diagnostics: found.items.map(listed),
          context: { lines: found.lines, start_line: found.start_line, target_line: line },
          filetype: found.filetype,
        });
      } catch (error) {
        if (error instanceof EditorRefusal && error.code) return refused(error.message);
        throw error;
      }
    },
  });
}

/** The specification answers what is not there as data. */
function refused(error: string): ToolResult {
  return { ...json({ error }), isError: true };
}
