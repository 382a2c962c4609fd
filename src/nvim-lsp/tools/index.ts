import type { LanguageServers } from "../../language/servers";
import type { Tool } from "../../mcp/tool";
import type { LanguageEdits } from "../edits/language-edits";
import type { NeovimProblems } from "../neovim/problems";
import { codeAction } from "./code-action";
import { findReferences } from "./find-references";
import { findSymbol } from "./find-symbol";
import { getDiagnosticContext } from "./get-diagnostic-context";
import { getDiagnosticSummary } from "./get-diagnostic-summary";
import { getDiagnostics } from "./get-diagnostics";
import { getSessionDiagnostics } from "./get-session-diagnostics";
import { outline } from "./outline";
import { renameSymbol } from "./rename-symbol";

/** Questions to the language servers, edits by them, and the tools of spec 04. */
export function createNvimLspTools(
  problems: NeovimProblems,
  servers: LanguageServers,
  edits: LanguageEdits,
): Tool[] {
  return [
    findSymbol(servers),
    findReferences(servers),
    outline(servers),
    renameSymbol(edits, servers),
    codeAction(edits, servers),
    getDiagnostics(problems),
    getDiagnosticContext(problems),
    getDiagnosticSummary(problems),
    getSessionDiagnostics(problems),
  ];
}
