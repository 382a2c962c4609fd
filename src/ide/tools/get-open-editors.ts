import { basename } from "node:path";
import * as v from "valibot";
import { openFiles } from "../../editor/buffers";
import { languageId } from "../../editor/language";
import type { EditorPort } from "../../editor/port";
import { fileUri } from "../../lib/file-uri";
import { json } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";

/** Spec 4.7. */
export function getOpenEditors(editor: EditorPort): Tool {
  return defineTool({
    name: "getOpenEditors",
    description: "List the files that are open in Neovim",
    input: v.object({}),
    annotations: { readOnlyHint: true },
    async call() {
      const state = await editor.sync();
      const tabs = openFiles(state).map((buffer) => ({
        uri: fileUri(buffer.path),
        isActive: buffer.buf === state.current,
        label: basename(buffer.path),
        languageId: languageId(buffer.filetype),
        isDirty: buffer.modified,
      }));
      return json({ tabs });
    },
  });
}
