import * as v from "valibot";
import type { LanguageServers } from "../../language/servers";
import { texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import { diffLines, type EditAnswer, type LanguageEdits } from "../edits/language-edits";

const MAX_ACTIONS = 60;
const MAX_CHARACTERS = 500;

const Input = v.object({
  path: v.pipe(v.string(), v.description("The file")),
  line: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.description("Line, from 1; the file if left out"),
    ),
  ),
  action: v.optional(
    v.pipe(
      v.string(),
      v.nonEmpty(),
      v.maxLength(MAX_CHARACTERS),
      v.description(
        "A title of the list, organize_imports or fix_all; lists what is offered if left out",
      ),
    ),
  ),
});

interface Answer extends EditAnswer {
  /** A command behind the edit, which is not run. */
  left?: string;
  actions?: { title: string; kind?: string; server: string }[];
}

/** Lists code actions of language servers, or does one. */
export function codeAction(edits: LanguageEdits, servers: LanguageServers): Tool<"code_action"> {
  return defineTool({
    name: "code_action",
    description:
      "List the quick fixes and refactorings that language servers offer for a line or a file, or do " +
      "one of them; also organize_imports and fix_all. The user can undo it in the review.",
    input: Input,
    annotations: { destructiveHint: true },
    async call({ path, line, action }, { signal, use }) {
      const params = {
        ...(line !== undefined && { line }),
        ...(action !== undefined && { action }),
      };
      const answer = (await servers.ask("code_action", path, params, signal)) as Answer;
      if (answer.actions) return texts(listed(answer.actions));
      const applied = await edits.apply({ tool: "code_action", use, answer });
      if (applied.changes.length === 0) return texts(`${action}: nothing to change.`);
      const names = [...new Set(answer.edits.map(({ server }) => server))].join(", ");
      const lines = [
        `done by ${names}: ${action}`,
        ...diffLines(applied, edits.place),
        ...(answer.left ? [`Its second step, the command ${answer.left}, was not run.`] : []),
        "Read these files again before you edit them.",
      ];
      return texts(lines.join("\n"));
    },
  });
}

function listed(actions: NonNullable<Answer["actions"]>): string {
  if (actions.length === 0) return "The language servers offer no code action there.";
  const lines = actions
    .slice(0, MAX_ACTIONS)
    .map(({ title, kind, server }) => `${title} (${[kind, server].filter(Boolean).join(", ")})`);
  if (actions.length > MAX_ACTIONS) lines.push(`… and ${actions.length - MAX_ACTIONS} more`);
  return [...lines, "Give a title as `action` to do one."].join("\n");
}
