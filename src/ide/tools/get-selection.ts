import * as v from "valibot";
import type { EditorPort } from "../../editor/methods";
import type { Selection } from "../../editor/model";
import { Failure } from "../../lib/errors";
import { json, type ToolResult } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";

/** Spec 4.4: what is selected now, or where the cursor is. */
export function getCurrentSelection(editor: EditorPort): Tool {
  return defineTool({
    name: "getCurrentSelection",
    description: "Get the selected text, or the cursor position, in the current window of Neovim",
    input: v.object({}),
    annotations: { readOnlyHint: true },
    call: () => answer(() => editor.call("selection", {}), "No active editor found"),
  });
}

/** Spec 4.5: what was last selected in a file, also when the current buffer is none. */
export function getLatestSelection(editor: EditorPort): Tool {
  return defineTool({
    name: "getLatestSelection",
    description: "Get what was last selected in a file, even if another window has the focus now",
    input: v.object({}),
    annotations: { readOnlyHint: true },
    call: () =>
      answer(
        async () => editor.latestSelection ?? (await editor.refreshSelection()),
        "No selection yet",
      ),
  });
}

async function answer(
  ask: () => Promise<Selection | undefined>,
  otherwise: string,
): Promise<ToolResult> {
  let message = otherwise;
  const selection = await ask().catch((error) => {
    if (!(error instanceof Failure) || error.code === "busy") throw error;
    message = error.message;
  });
  if (!selection) return json({ success: false, message });
  const { text, path, start, end, truncated } = selection;
  const cut = truncated && { truncated };
  return json({ success: true, text, filePath: path, selection: { start, end }, ...cut });
}
