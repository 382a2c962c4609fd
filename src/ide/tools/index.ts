import type { EditorPort } from "../../editor/port";
import type { Tool } from "../../mcp/tool";
import type { Diffs } from "../diffs/diffs";
import type { Rejections } from "../diffs/rejections";
import { checkDocumentDirty } from "./check-document-dirty";
import { closeAllDiffTabs, closeTab } from "./close-tab";
import { executeCode } from "./execute-code";
import type { ExecuteCodeOptions } from "./execute-code/options";
import { getDiagnostics } from "./get-diagnostics";
import { getOpenEditors } from "./get-open-editors";
import { getCurrentSelection, getLatestSelection } from "./get-selection";
import { getWorkspaceFolders } from "./get-workspace-folders";
import { openDiff } from "./open-diff";
import { openFile } from "./open-file";
import { saveDocument } from "./save-document";
import { FileNames } from "./spellings";

/** The tools of spec 02, in its order. executeCode is not even listed unless the user enabled it. */
export function createTools(
  editor: EditorPort,
  diffs: Diffs,
  rejections: Rejections,
  options?: ExecuteCodeOptions,
): Tool[] {
  const names = new FileNames();
  return [
    openDiff(editor, diffs, rejections, names),
    openFile(editor),
    getCurrentSelection(editor),
    getLatestSelection(editor),
    getDiagnostics(editor, names),
    getOpenEditors(editor),
    getWorkspaceFolders(editor),
    checkDocumentDirty(editor),
    saveDocument(editor),
    closeAllDiffTabs(diffs),
    closeTab(editor, diffs, rejections),
    ...(options?.enabled ? [executeCode(editor, options)] : []),
  ];
}
