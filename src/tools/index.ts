import type { Diffs } from "../diff/diffs";
import type { EditorPort } from "../editor/port";
import type { Tool } from "../mcp/tool";
import { closeAllDiffTabs } from "./close-all-diff-tabs";
import { closeTab } from "./close-tab";
import { FileNames } from "./file-names";
import { getDiagnostics } from "./get-diagnostics";
import { openDiff } from "./open-diff";
import { openFile } from "./open-file";

/** The tools of spec 02 that the WebSocket server offers, in the order they are listed. */
export function createTools(editor: EditorPort, diffs: Diffs): Tool[] {
  const names = new FileNames();
  return [
    openFile(editor),
    openDiff(editor, diffs, names),
    getDiagnostics(editor, names),
    closeAllDiffTabs(diffs),
    closeTab(editor, diffs),
  ];
}
