import { isAbsolute } from "node:path";
import * as v from "valibot";
import type { EditorPort, Params } from "../../editor/methods";
import type { FilePath } from "../../editor/model";
import { refuseControlCharacters, refuseLong, resolveLinks, resolvePath } from "../../editor/path";
import { message } from "../../lib/errors";
import { realPath } from "../../lib/paths";
import { writeText } from "../../lib/rewrite";
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
      // Claude Code writes the file itself, and fails if it changed under it. Other clients do not, so we write it.
      if (!isClaudeCode(client) && !client.remote) {
        const failure = write(newPath, file, outcome.text);
        if (failure) {
          // Claude can propose its own text again, but the user's edits of it exist nowhere else.
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

/** `file`: where `path` led to when the change was proposed. Returns what went wrong. */
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
 * How each client spelled a file last. Neovim resolves symlinked folders in buffer names, and
 * Claude Code compares URIs as text, so it must get a file under the name it used itself.
 */
export class FileNames {
  readonly #spellings = new WeakMap<Client, Map<string, string>>();

  /** Remembers a path under the name that the client gave it; returns the real path behind it. */
  remember(client: Client, path: FilePath, given: string = path): FilePath {
    const real = resolveLinks(path);
    const known = this.#spellings.get(client) ?? new Map<string, string>();
    this.#spellings.set(client, known.set(real, given));
    return real;
  }

  /** The client's own name for the file at this path, else the path as it is. */
  of(client: Client, path: string): string {
    const known = this.#spellings.get(client);
    if (!known || known.size === 0) return path;
    return known.get(path) ?? known.get(realPath(path)) ?? path;
  }
}

/** Spec 4.11. Claude Code calls it at every prompt, so only the calling client's own diffs close. */
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
 * Spec 4.12. Closes the client's diff of that name, else the buffer of that name (for no client that
 * runs elsewhere), and is content if there is none: Claude Code sends it twice for one diff.
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

/** A path, relative ones taken from the workspace, or a file's last name as it is. */
function tabNamed(name: string, root: string | undefined): Params<"tab_close"> {
  refuseLong(name);
  refuseControlCharacters(name);
  const isPath = isAbsolute(name) || (name.includes("/") && root !== undefined);
  return isPath ? { path: resolvePath(name, root) } : { name };
}
