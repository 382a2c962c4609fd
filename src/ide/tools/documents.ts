import * as v from "valibot";
import type { EditorPort } from "../../editor/methods";
import { resolvePath } from "../../editor/path";
import { bufferAt } from "../../editor/state";
import { Failure } from "../../lib/errors";
import { native } from "../../lib/platform";
import { json, texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";

export const documentTools = (editor: EditorPort) => [
  openFile(editor),
  checkDocumentDirty(editor),
  saveDocument(editor),
];

/** With this limit, searching takes at most 0.1 s, even in a line of 1 MB that repeats all but the end of the text. */
const MAX_CHARACTERS = 10_000;

const Opening = v.object({
  filePath: v.pipe(v.string(), v.description("Path of the file to open")),
  preview: v.optional(
    v.pipe(v.boolean(), v.description("Accepted for compatibility; it has no effect")),
    false,
  ),
  startText: v.optional(
    v.pipe(v.string(), v.maxLength(MAX_CHARACTERS), v.description("Select from this text")),
  ),
  endText: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(MAX_CHARACTERS),
      v.description("Select to the end of this text"),
    ),
  ),
  selectToEndOfLine: v.optional(
    v.pipe(v.boolean(), v.description("Extend the selection to the end of its last line")),
    false,
  ),
  makeFrontmost: v.optional(
    v.pipe(
      v.boolean(),
      v.description("Show the file, go to it and select; if false, only load it"),
    ),
    true,
  ),
});

/** Spec 4.3. */
function openFile(editor: EditorPort): Tool {
  return defineTool({
    name: "openFile",
    description: "Open a file in Neovim and optionally select a range of text",
    input: Opening,
    async call(input, { client }) {
      const path = resolvePath(input.filePath, editor.state.folders[0]);
      const folders = client.remote?.folders;
      const opened = await editor.call("document_open", {
        path,
        folders: folders && [...folders],
        start_text: input.startText,
        end_text: input.endText,
        select_to_eol: input.selectToEndOfLine,
        front: input.makeFrontmost,
      });
      if (input.makeFrontmost) return texts(`Opened file: ${native(path)}`);
      const { language_id: languageId, line_count: lineCount } = opened;
      return json({ success: true, filePath: native(path), languageId, lineCount });
    },
  });
}

const Named = v.object({ filePath: v.pipe(v.string(), v.description("Path of the file")) });

/** Spec 4.9. A buffer that is not loaded has no text, so it does not count as open. */
function checkDocumentDirty(editor: EditorPort): Tool {
  return defineTool({
    name: "checkDocumentDirty",
    description: "Check whether a file has unsaved changes in Neovim",
    input: Named,
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

/** Spec 4.10. Saves as `:w` does, with autocommands. A failure does not change the buffer. */
function saveDocument(editor: EditorPort): Tool {
  return defineTool({
    name: "saveDocument",
    description: "Save a file that is open in Neovim",
    input: Named,
    async call({ filePath }) {
      let problem: string | undefined;
      try {
        const path = resolvePath(filePath, editor.state.folders[0]);
        ({ problem } = await editor.call("document_save", { path }));
      } catch (error) {
        if (!(error instanceof Failure) || error.code === "busy") throw error;
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
