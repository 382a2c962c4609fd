import * as v from "valibot";
import type { Selection } from "../editor/model";
import type { EditorPort } from "../editor/port";
import { json, type ToolResult } from "../mcp/protocol";
import { defineTool, type Tool } from "../mcp/tool";

/** Spec 4.4: what is selected now, or where the cursor stands. */
export function getCurrentSelection(editor: EditorPort): Tool {
  return defineTool({
    name: "getCurrentSelection",
    description: "Get the selected text, or the cursor position, in the current window of Neovim",
    input: v.object({}),
    annotations: { readOnlyHint: true },
    call: async () => answer(await editor.currentSelection(), "No active editor found"),
  });
}

/** Spec 4.5: what was last selected in a file, also when the current buffer is none. */
export function getLatestSelection(editor: EditorPort): Tool {
  return defineTool({
    name: "getLatestSelection",
    description: "Get what was last selected in a file, even if another window has the focus now",
    input: v.object({}),
    annotations: { readOnlyHint: true },
    call: () => answer(editor.latestSelection, "No selection yet"),
  });
}

function answer(selection: Selection | undefined, otherwise: string): ToolResult {
  if (!selection) return json({ success: false, message: otherwise });
  const { text, path, start, end } = selection;
  return json({ success: true, text, filePath: path, selection: { start, end } });
}
