import * as v from "valibot";
import { resolvePath } from "../../editor/path";
import type { EditorPort } from "../../editor/port";
import { json, texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";

/** Of a text to search for. */
const MOST_CHARACTERS = 100_000;

const Input = v.object({
  filePath: v.pipe(v.string(), v.description("Path of the file to open")),
  preview: v.optional(
    v.pipe(v.boolean(), v.description("Accepted for compatibility; it has no effect")),
    false,
  ),
  startText: v.optional(
    v.pipe(v.string(), v.maxLength(MOST_CHARACTERS), v.description("Select from this text")),
  ),
  endText: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(MOST_CHARACTERS),
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
      v.description("Show the file, go to it and select; if false, only place its cursor"),
    ),
    true,
  ),
});

/** Spec 4.3. */
export function openFile(editor: EditorPort): Tool {
  return defineTool({
    name: "openFile",
    description: "Open a file in Neovim and optionally select a range of text",
    input: Input,
    async call(input) {
      const path = resolvePath(input.filePath, editor.state.folders[0]);
      const opened = await editor.openDocument({
        path,
        startText: input.startText,
        endText: input.endText,
        selectToEndOfLine: input.selectToEndOfLine,
        front: input.makeFrontmost,
      });
      if (input.makeFrontmost) return texts(`Opened file: ${path}`);
      const { languageId, lineCount } = opened;
      return json({ success: true, filePath: path, languageId, lineCount });
    },
  });
}
