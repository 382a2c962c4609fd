import * as v from "valibot";
import type { EditorPort, Params } from "../../editor/methods";
import type { FilePath } from "../../editor/model";
import { refuseControlCharacters, refuseLong, resolveLinks, resolvePath } from "../../editor/path";
import { writeText } from "../../lib/atomic-write";
import { message } from "../../lib/errors";
import { realPath } from "../../lib/paths";
import { isAbsolute } from "../../lib/platform";
import { type Client, failed, isClaudeCode, texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import type { Diffs, Rejections } from "../diffs";

export const diffTools = (
  editor: EditorPort,
  diffs: Diffs,
  rejections: Rejections,
  names: FileNames,
) => [
  openDiff(editor, diffs, rejections, names),
  closeAllDiffTabs(diffs),
  closeTab(editor, diffs, rejections),
];

const Proposal = v.object({
  old_file_path: v.pipe(v.string(), v.description("Path of the file as it is")),
  new_file_path: v.pipe(v.string(), v.description("Path the changed file will have")),
  new_file_contents: v.pipe(v.string(), v.description("The whole changed file")),
  tab_name: v.optional(v.pipe(v.string(), v.description("Display name of the diff"))),
});

/** Spec 4.2. The only tool that waits for the user. */
function openDiff(
  editor: EditorPort,
  diffs: Diffs,
  rejections: Rejections,
  names: FileNames,
): Tool {
  return defineTool({
    name: "openDiff",
    description:
      "Show a proposed change as a diff and wait until the user accepts it, edited or not, or rejects it",
    input: Proposal,
    async call(input, { client, signal }) {
      const root = editor.state.folders[0];
      const oldPath = resolvePath(input.old_file_path, root);
      const newPath = resolvePath(input.new_file_path, root);
      names.remember(client, newPath);
      const file = realPath(newPath);
      const outcome = await diffs.open(
        {
          client: client.id,
          remote: client.remote?.name,
          oldPath,
          newPath,
          contents: input.new_file_contents,
          name: input.tab_name,
        },
        signal,
      );
      if (!outcome.accepted) {
        const { reason } = outcome;
        const answer = ["DIFF_REJECTED", input.tab_name ?? newPath];
        if (reason === undefined) return texts(...answer);
        if (!isClaudeCode(client)) return texts(...answer, reason);
        rejections.add(client, newPath, reason);
        return texts(...answer);
      }
      // Claude Code writes the file itself, and fails if we have changed it. For other clients we write it.
      if (!isClaudeCode(client) && !client.remote) {
        const failure = write(newPath, file, outcome.text);
        if (failure) {
          // The client can propose its own text again, but the user's edits of it exist nowhere else.
          if (outcome.text !== input.new_file_contents)
            editor
              .call("diff_unwritten", { path: newPath, text: outcome.text, problem: failure })
              .catch(() => {});
          return failed(`Accepted, but ${newPath} could not be written: ${failure}`);
        }
        await editor.call("document_reload", { path: newPath }).catch(() => {});
      }
      return texts("FILE_SAVED", outcome.text);
    },
  });
}

/** `file` is where `path` led when the change was proposed. Returns the problem, if any. */
function write(path: string, file: string, text: string): string | undefined {
  const now = realPath(path);
  if (now !== file) return `it led to ${file}, and leads to ${now} now`;
  try {
    writeText(file, text);
    return undefined;
  } catch (error) {
    return message(error);
  }
}

/**
 * Remembers each client's own spelling of a file's path. Neovim resolves symlinks to folders in buffer names, but
 * Claude Code compares URIs as text.
 */
export class FileNames {
  readonly #spellings = new WeakMap<Client, Map<string, string>>();

  /** Remembers the client's spelling of a path. Returns the real path. */
  remember(client: Client, path: FilePath, given: string = path): FilePath {
    const real = resolveLinks(path);
    const known = this.#spellings.get(client) ?? new Map<string, string>();
    this.#spellings.set(client, known.set(real, given));
    return real;
  }

  /** The client's spelling of the path, or else the path itself. */
  of(client: Client, path: string): string {
    const known = this.#spellings.get(client);
    if (!known || known.size === 0) return path;
    return known.get(path) ?? known.get(realPath(path)) ?? path;
  }
}

/** Spec 4.11. Claude Code calls this at every prompt, so it closes only the client's own diffs. */
function closeAllDiffTabs(diffs: Diffs): Tool {
  return defineTool({
    name: "closeAllDiffTabs",
    description: "Close the diffs that this client opened; each counts as rejected",
    input: v.object({}),
    async call(_input, { client }) {
      return texts(`closed ${await diffs.closeOf(client.id)} diff tabs`);
    },
  });
}

const Input = v.object({ tab_name: v.string() });

/**
 * Spec 4.12. Closes the client's diff of that name, or else the buffer of that name, unless the client runs elsewhere.
 * Finding neither is not an error: Claude Code calls this twice for one diff.
 */
function closeTab(editor: EditorPort, diffs: Diffs, rejections: Rejections): Tool {
  return defineTool({
    name: "close_tab",
    input: Input,
    async call({ tab_name }, { client }) {
      const closed = await diffs.closeNamed(client.id, tab_name);
      if (closed === 0 && !client.remote && !diffs.isDiffName(tab_name)) {
        await editor.call("tab_close", tabNamed(tab_name, editor.state.folders[0]));
      }
      rejections.tabClosed(client);
      return texts("TAB_CLOSED");
    },
  });
}

/** A tab's name is a path, which may be relative to the workspace, or the last part of a path. */
function tabNamed(name: string, root: string | undefined): Params<"tab_close"> {
  refuseLong(name);
  refuseControlCharacters(name);
  const isPath = isAbsolute(name) || (name.includes("/") && root !== undefined);
  return isPath ? { path: resolvePath(name, root) } : { name };
}
