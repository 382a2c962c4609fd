import * as v from "valibot";
import { resolvePath } from "../../editor/path";
import { type EditorPort, EditorRefusal } from "../../editor/port";
import { json } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";

const Input = v.object({ filePath: v.pipe(v.string(), v.description("Path of the file")) });

/** Spec 4.10: saves as `:w` does, autocommands included. A failure leaves the buffer as it is. */
export function saveDocument(editor: EditorPort): Tool {
  return defineTool({
    name: "saveDocument",
    description: "Save a file that is open in Neovim",
    input: Input,
    async call({ filePath }) {
      let problem: string | undefined;
      try {
        ({ problem } = await editor.saveDocument(resolvePath(filePath, editor.state.folders[0])));
      } catch (error) {
        if (!(error instanceof EditorRefusal)) throw error;
        const notOpen = error.code === "not_open";
        const message = notOpen ? `Document not open: ${filePath}` : error.message;
        return json({ success: false, ...(!notOpen && { filePath, saved: false }), message });
      }
      const message = problem
        ? `Document saved, but an autocommand failed after that: ${problem}`
        : "Document saved successfully";
      return json({ success: true, filePath, saved: true, message });
    },
  });
}
