import * as v from "valibot";
import type { EditorPort } from "../../editor/methods";
import type { Selection } from "../../editor/model";
import { openFiles } from "../../editor/state";
import { Failure } from "../../lib/errors";
import { fileUri } from "../../lib/file-uri";
import { basename, native } from "../../lib/platform";
import { json, type ToolResult } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";

/** These tools only read. A new tool is a function in this file, and its name in this list. */
export const editorStateTools = (editor: EditorPort) => [
  getCurrentSelection(editor),
  getLatestSelection(editor),
  getOpenEditors(editor),
  getWorkspaceFolders(editor),
];

/** Neovim's filetypes with another name in LSP (LSP 3.17, TextDocumentItem). */
const LANGUAGE_IDS: Record<string, string> = {
  bash: "shellscript",
  cs: "csharp",
  eruby: "erb",
  gitcommit: "git-commit",
  gitrebase: "git-rebase",
  help: "vimdoc",
  make: "makefile",
  objc: "objective-c",
  objcpp: "objective-cpp",
  ps1: "powershell",
  sh: "shellscript",
  tex: "latex",
  text: "plaintext",
  zsh: "shellscript",
};

/** Spec 4.7. */
function getOpenEditors(editor: EditorPort): Tool {
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

function languageId(filetype: string): string {
  return filetype === "" ? "plaintext" : (LANGUAGE_IDS[filetype] ?? filetype);
}

/** Spec 4.8. Returns real paths. The root is the current working directory. */
function getWorkspaceFolders(editor: EditorPort): Tool {
  return defineTool({
    name: "getWorkspaceFolders",
    description: "List the workspace folders of Neovim; the first is its working directory",
    input: v.object({}),
    annotations: { readOnlyHint: true },
    async call() {
      const { folders } = await editor.sync();
      return json({
        success: true,
        folders: folders.map((path) => ({
          name: basename(path),
          uri: fileUri(path),
          path: native(path),
        })),
        rootPath: folders[0] === undefined ? null : native(folders[0]),
      });
    },
  });
}

/** Spec 4.4. Returns the current selection, or the cursor's position. */
function getCurrentSelection(editor: EditorPort): Tool {
  return defineTool({
    name: "getCurrentSelection",
    description: "Get the selected text, or the cursor position, in the current window of Neovim",
    input: v.object({}),
    annotations: { readOnlyHint: true },
    call: () => answer(() => editor.call("selection", {}), "No active editor found"),
  });
}

/** Spec 4.5. Returns the last selection in a file, even if the current buffer is not a file. */
function getLatestSelection(editor: EditorPort): Tool {
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
  return json({ success: true, text, filePath: native(path), selection: { start, end }, ...cut });
}
