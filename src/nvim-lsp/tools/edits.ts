import * as v from "valibot";
import type { LanguagePlaces } from "../../editor/language";
import type { LanguageServers } from "../../language/servers";
import { shownPath } from "../../lib/paths";
import { counted } from "../../lib/visible";
import { texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import { diffLines, type EditAnswer, fileLines, type LanguageEdits } from "../edits/language-edits";
import { unchanged } from "../edits/workspace-edit";
import { ALWAYS_LOADED, MAX_NAME, SymbolLine, SymbolName } from "./language";

const Rename = v.object({
  path: v.pipe(v.string(), v.description("A file in which the name occurs")),
  symbol: SymbolName,
  new_name: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(MAX_NAME)),
  line: v.optional(SymbolLine),
  preview: v.optional(v.pipe(v.boolean(), v.description("Show the edits, and change nothing"))),
});

/** Renames a symbol with the language servers of the user's Neovim. */
export function renameSymbol(edits: LanguageEdits, servers: LanguageServers): Tool {
  return defineTool({
    name: "rename_symbol",
    description:
      "Rename a symbol wherever the language server knows it is used: one call instead of many " +
      "edits. Writes the files and answers with what changed; the user can undo it in the review.",
    input: Rename,
    annotations: { destructiveHint: true },
    meta: ALWAYS_LOADED,
    async call({ path, new_name, symbol, line, preview }, { signal, use }) {
      if (/\p{Cc}/u.test(new_name)) throw unchanged("The new name contains control characters.");
      const params = { symbol, new_name, ...(line && { line }) };
      const asked = await servers.ask("rename_symbol", path, params, signal);
      const answer = asked as EditAnswer & { name?: string; candidates?: LanguagePlaces };
      if (answer.candidates) return texts(ambiguous(answer.candidates, symbol, edits.place));
      const name = answer.name ?? symbol;
      const renamed = { from: name, to: new_name };
      const applied = await edits.apply({ tool: "rename_symbol", use, answer, renamed, preview });
      if (applied.changes.length === 0) throw unchanged(`${name} already has this name.`);
      const places = applied.changes.reduce((sum, change) => sum + change.edits, 0);
      const where = `${counted(applied.changes.length, "file")}, ${counted(places, "place")}`;
      const what = `${name} to ${new_name} in ${where}, as ${answer.edits[0]?.server} reports`;
      const lines = preview
        ? [`would rename ${what}:`, ...diffLines(applied, edits.place), "Nothing was changed."]
        : [
            `renamed ${what}:`,
            ...fileLines(applied, edits.place),
            "Texts that the server does not know may also contain the name: use Grep.",
            "Read these files again before you edit them.",
          ];
      return texts(lines.join("\n"));
    },
  });
}

function ambiguous({ files, places }: LanguagePlaces, symbol: string, root: string): string {
  const list = places.map(
    ({ file, line }) => `  ${shownPath(files[file - 1]?.path ?? "", root)}:${line}`,
  );
  const head = `Several symbols are called ${symbol}. Nothing was changed. Give the \`path\` and \`line\` of one:`;
  return [head, ...list].join("\n");
}

const MAX_ACTIONS = 60;
const MAX_CHARACTERS = 500;

const Line = v.pipe(v.number(), v.integer(), v.minValue(1));
const Title = v.pipe(v.string(), v.nonEmpty(), v.maxLength(MAX_CHARACTERS));
const TITLE = "A title of the list, organize_imports or fix_all; lists what is offered if left out";
const Action = v.object({
  path: v.pipe(v.string(), v.description("The file")),
  line: v.optional(v.pipe(Line, v.description("Line, from 1; the file if left out"))),
  action: v.optional(v.pipe(Title, v.description(TITLE))),
});

interface Answer extends EditAnswer {
  /** A command that follows the edit, and that we do not run. */
  left?: string;
  actions?: { title: string; kind?: string; server: string }[];
}

/** Lists code actions of language servers, or applies one. */
export function codeAction(edits: LanguageEdits, servers: LanguageServers): Tool {
  return defineTool({
    name: "code_action",
    description:
      "List the quick fixes and refactorings that language servers offer for a line or a file, or do " +
      "one of them; also organize_imports and fix_all. The user can undo it in the review.",
    input: Action,
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
