import * as v from "valibot";
import type { EditorPort } from "../../editor/methods";
import { resolvePath } from "../../editor/path";
import { message } from "../../lib/errors";
import { realPath } from "../../lib/paths";
import { writeText } from "../../lib/rewrite";
import { failed, isClaudeCode, texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import type { Diffs, Rejections } from "../diffs";
import type { FileNames } from "./spellings";

const Proposal = v.object({
  old_file_path: v.pipe(v.string(), v.description("Path of the file as it is")),
  new_file_path: v.pipe(v.string(), v.description("Path the changed file will have")),
  new_file_contents: v.pipe(v.string(), v.description("The whole changed file")),
  tab_name: v.optional(v.pipe(v.string(), v.description("Display name of the diff"))),
});

/** Spec 4.2. The only tool that waits for the user. */
export function openDiff(
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
      // Claude Code writes the file itself, and fails if it changed under it. Elsewhere everybody does.
      if (!isClaudeCode(client) && !client.remote) {
        const failure = write(newPath, file, outcome.text);
        if (failure) {
          // Claude's own text it can propose again; what the user made of it is nowhere else.
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
