import type { EditorPort } from "../../editor/methods";
import type { Diffs, Rejections } from "../diffs";
import { getDiagnostics } from "./diagnostics";
import { diffTools, FileNames } from "./diffs";
import { documentTools } from "./documents";
import { editorStateTools } from "./editor-state";

/** The tools of spec 02, except executeCode: the spec makes it optional, and the CLI has a shell. */
export function createTools(editor: EditorPort, diffs: Diffs, rejections: Rejections) {
  const names = new FileNames();
  return [
    ...diffTools(editor, diffs, rejections, names),
    ...documentTools(editor),
    ...editorStateTools(editor),
    getDiagnostics(editor, names),
  ];
}
