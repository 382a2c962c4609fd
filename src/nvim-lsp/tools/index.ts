import type { ProblemsPort } from "../../editor/problems";
import type { LanguageServers } from "../../language/servers";
import type { Tool } from "../../mcp/tool";
import { findReferences } from "./find-references";
import { findSymbol } from "./find-symbol";
import { getDiagnosticContext } from "./get-diagnostic-context";
import { getDiagnosticSummary } from "./get-diagnostic-summary";
import { getDiagnostics } from "./get-diagnostics";
import { getSessionDiagnostics } from "./get-session-diagnostics";
import { outline } from "./outline";

/** Questions to the language servers, and the tools of spec 04. */
export function createNvimLspTools(problems: ProblemsPort, servers: LanguageServers): Tool[] {
  return [
    findSymbol(servers),
    findReferences(servers),
    outline(servers),
    getDiagnostics(problems),
    getDiagnosticContext(problems),
    getDiagnosticSummary(problems),
    getSessionDiagnostics(problems),
  ];
}
