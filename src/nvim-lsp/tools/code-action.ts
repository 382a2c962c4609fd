import * as v from "valibot";
import type { LanguageServers } from "../../language/servers";
import { shownPath } from "../../lib/paths";
import { type ToolResult, texts } from "../../mcp/protocol";
import { defineTool, type Tool, type ToolCall } from "../../mcp/tool";
import { diffLines, problemLines } from "../edits/answer-text";
import type { LanguageEdits, ServerEdit } from "../edits/language-edits";

const MOST_ACTIONS = 60;
const MOST_CHARACTERS = 500;

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
      v.union([v.pipe(v.string(), v.nonEmpty(), v.maxLength(MOST_CHARACTERS)), v.number()]),
      v.description(
        "A title or a number of the list, or format, organize_imports, fix_all; lists what is offered if left out",
      ),
    ),
  ),
});
type Input = v.InferOutput<typeof Input>;

interface Answer {
  edits: ServerEdit[];
  /** To be run by its server once the edits are made. */
  command?: object;
  actions?: { title: string; kind?: string; server: string }[];
}

/** Lists code actions of language servers, or does one. */
export function codeAction(edits: LanguageEdits, servers: LanguageServers): Tool<"code_action"> {
  return defineTool({
    name: "code_action",
    description:
      "List the quick fixes and refactorings that language servers offer for a line or a file, or do " +
      "one of them; also format, organize_imports and fix_all. All or nothing; the user can take it back.",
    input: Input,
    annotations: { destructiveHint: true },
    call: (input, call) => run(edits, servers, input, call),
  });
}

async function run(
  edits: LanguageEdits,
  servers: LanguageServers,
  { path, line, action }: Input,
  { signal, use }: ToolCall,
): Promise<ToolResult> {
  const params = { ...(line !== undefined && { line }), ...(action !== undefined && { action }) };
  const answer = await servers.ask<Answer>("code_action", path, params, signal);
  if (answer.actions) return texts(listed(answer.actions));
  const [candidate = path] = servers.file(path).file;
  const label = `"${action}" in ${shownPath(candidate, edits.place)}`;
  const { command } = answer;
  const applied = await edits.apply(
    { tool: "code_action", label, use, edits: answer.edits },
    // A server's command that belongs to an edit follows it (LSP 3.17, `CodeAction`).
    command &&
      (() =>
        servers
          .ask<Answer>("code_action_command", path, command, signal)
          .then(({ edits }) => edits)),
  );
  if (applied.changes.length === 0) return texts(`${action}: nothing to change.`);
  const names = [...new Set(answer.edits.map(({ server }) => server))].join(", ");
  const lines = [
    `done by ${names}: ${action}`,
    ...diffLines(applied.changes, edits.place),
    ...(applied.problem ? [`Its second step was not done: ${applied.problem}`] : []),
    ...problemLines(applied, edits.place),
    "Read these files again before you edit them.",
  ];
  return texts(lines.join("\n"));
}

function listed(actions: NonNullable<Answer["actions"]>): string {
  if (actions.length === 0) return "The language servers offer no code action there.";
  const lines = actions
    .slice(0, MOST_ACTIONS)
    .map(
      ({ title, kind, server }, i) =>
        `${i + 1}. ${title} (${[kind, server].filter(Boolean).join(", ")})`,
    );
  if (actions.length > MOST_ACTIONS) lines.push(`… and ${actions.length - MOST_ACTIONS} more`);
  return [...lines, "Give the title or the number as `action` to do one."].join("\n");
}
