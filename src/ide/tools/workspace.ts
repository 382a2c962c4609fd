import { basename } from "node:path";
import * as v from "valibot";
import type { EditorPort } from "../../editor/methods";
import { openFiles } from "../../editor/state";
import { fileUri } from "../../lib/file-uri";
import { json } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";

/** LSP's names where they differ from Neovim's filetypes (LSP 3.17, TextDocumentItem). */
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

/** The language id of a filetype; "plaintext" without one. */
function languageId(filetype: string): string {
  return filetype === "" ? "plaintext" : (LANGUAGE_IDS[filetype] ?? filetype);
}

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
