import type { ProblemsPort } from "../../editor/problems";
import type { Tool } from "../../mcp/tool";
import { getDiagnosticContext } from "./get-diagnostic-context";
import { getDiagnosticSummary } from "./get-diagnostic-summary";
import { getDiagnostics } from "./get-diagnostics";
import { getSessionDiagnostics } from "./get-session-diagnostics";

/** The tools of spec 04, which the stdio server offers. */
export function createNvimLspTools(problems: ProblemsPort): Tool[] {
  return [
    getDiagnostics(problems),
    getDiagnosticContext(problems),
    getDiagnosticSummary(problems),
    getSessionDiagnostics(problems),
  ];
}
