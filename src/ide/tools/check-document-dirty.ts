import * as v from "valibot";
import { bufferAt } from "../../editor/buffers";
import { resolvePath } from "../../editor/path";
import type { EditorPort } from "../../editor/port";
import { json } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";

const Input = v.object({ filePath: v.pipe(v.string(), v.description("Path of the file")) });

/** Spec 4.9. A buffer that is listed but not loaded holds no text, so it is not open. */
export function checkDocumentDirty(editor: EditorPort): Tool {
  return defineTool({
    name: "checkDocumentDirty",
    description: "Check whether a file has unsaved changes in Neovim",
    input: Input,
    annotations: { readOnlyHint: true },
    async call({ filePath }) {
      const state = await editor.sync();
      const buffer = bufferAt(state, resolvePath(filePath, state.folders[0]));
      if (!buffer?.loaded)
        return json({ success: false, message: `Document not open: ${filePath}` });
      return json({ success: true, filePath, isDirty: buffer.modified, isUntitled: false });
    },
  });
}
