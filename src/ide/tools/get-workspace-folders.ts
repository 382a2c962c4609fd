import { basename } from "node:path";
import * as v from "valibot";
import type { EditorPort } from "../../editor/port";
import { fileUri } from "../../lib/file-uri";
import { json } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";

/** Spec 4.8. Real paths; the current working directory is the root. */
export function getWorkspaceFolders(editor: EditorPort): Tool {
  return defineTool({
    name: "getWorkspaceFolders",
    description: "List the workspace folders of Neovim; the first is its working directory",
    input: v.object({}),
    annotations: { readOnlyHint: true },
    async call() {
      const { folders } = await editor.sync();
      return json({
        success: true,
        folders: folders.map((path) => ({ name: basename(path), uri: fileUri(path), path })),
        rootPath: folders[0] ?? null,
      });
    },
  });
}
