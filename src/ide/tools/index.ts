import type { EditorPort } from "../../editor/methods";
import type { Diffs, Rejections } from "../diffs";
import { closeAllDiffTabs, closeTab } from "./close-tab";
import { checkDocumentDirty, openFile, saveDocument } from "./documents";
import { getDiagnostics } from "./get-diagnostics";
import { getCurrentSelection, getLatestSelection } from "./get-selection";
import { openDiff } from "./open-diff";
import { FileNames } from "./spellings";
import { getOpenEditors, getWorkspaceFolders } from "./workspace";

/** The tools of spec 02, in its order. It leaves executeCode to us, and the CLI has a shell. */
export function createTools(editor: EditorPort, diffs: Diffs, rejections: Rejections) {
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
  ];
}
