import { existsSync } from "node:fs";
import * as v from "valibot";
import { EditProblem } from "../../edits/problem";
import type { Judge } from "../../edits/text-edits";
import { occurrencesOf } from "../../language/occurrences";
import { remainsLine, remainsOf } from "../../language/reconcile";
import { References } from "../../language/references";
import type { LanguageServers } from "../../language/servers";
import { realPath, shownPath } from "../../lib/paths";
import { counted } from "../../lib/visible";
import { type ToolResult, texts } from "../../mcp/protocol";
import { defineTool, type Tool, type ToolCall } from "../../mcp/tool";
import { diffLines, fileLines, problemLines } from "../edits/answer-text";
import type { Applied, LanguageEdits, ServerEdit } from "../edits/language-edits";
import { ALWAYS_LOADED, SymbolLine, SymbolName } from "./symbol-input";

/** Paths are longer than names. */
const LONGEST = 4_096;

const Input = v.object({
  path: v.pipe(v.string(), v.description("A file in which the name occurs, or the file to move")),
  new_name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1),
    v.maxLength(LONGEST),
    v.description("The new name; without `symbol` the file's new path"),
  ),
  symbol: v.optional(SymbolName),
  line: v.optional(SymbolLine),
  preview: v.optional(v.pipe(v.boolean(), v.description("Show the edits, and change nothing"))),
});
type Input = v.InferOutput<typeof Input>;

interface Answer {
  edits: ServerEdit[];
  name?: string;
  candidates?: { files: { path: string }[]; places: { file: number; line: number }[] };
}

/** Renames a symbol, or moves a file, by the language servers of the user's Neovim. */
export function renameSymbol(
  edits: LanguageEdits,
  servers: LanguageServers,
): Tool<"rename_symbol"> {
  const references = new References(servers);
  return defineTool({
    name: "rename_symbol",
    description:
      "Rename a symbol wherever it is used, or move a file and update what imports it, by the " +
      "language server: one call instead of many edits. Writes the files and answers with what " +
      "changed and with new problems. All or nothing; the user can take it back in one step.",
    input: Input,
    annotations: { destructiveHint: true },
    meta: ALWAYS_LOADED,
    call: (input, call) =>
      input.symbol
        ? rename(edits, servers, references, input, call)
        : move(edits, servers, input, call),
  });
}

async function rename(
  edits: LanguageEdits,
  servers: LanguageServers,
  references: References,
  input: Input,
  { signal, use }: ToolCall,
): Promise<ToolResult> {
  const { path, new_name, symbol = "", line, preview } = input;
  refuseControlCharacters(new_name);
  const missing = await references.missing({ symbol, path, line }, signal);
  if (missing) {
    const next = "Ask again in 10 s; if it is the same then, use Edit";
    throw new EditProblem(`${symbol} is not renamed: ${missing}. ${next}.`);
  }
  const params = { symbol, new_name, ...(line && { line }) };
  const answer = await servers.ask<Answer>("rename_symbol", path, params, signal);
  if (answer.candidates) return texts(ambiguous(answer.candidates, symbol, edits.place));
  const name = answer.name ?? symbol;
  const [server] = answer.edits;
  const applied = await edits.apply({
    tool: "rename_symbol",
    label: `the rename of ${name} to ${new_name}`,
    use,
    edits: answer.edits,
    judge: sameText(name, new_name),
    preview,
  });
  if (applied.changes.length === 0) throw new EditProblem(`${name} is called so already.`);
  const places = applied.changes.reduce((sum, change) => sum + change.edits, 0);
  const what = `${name} to ${new_name} in ${counted(applied.changes.length, "file")}, ${counted(places, "place")} (${server?.server})`;
  if (preview) return previewed(`would rename ${what}:`, applied, edits.place);
  const { project } = servers;
  const left = remainsOf(await occurrencesOf(name, project), [], () => true, project);
  return done(`renamed ${what}:`, applied, edits.place, [remainsLine(left, `\`${name}\``)]);
}

async function move(
  edits: LanguageEdits,
  servers: LanguageServers,
  input: Input,
  { signal, use }: ToolCall,
): Promise<ToolResult> {
  const old_path = existing(servers, input.path);
  const new_path = pathOf(servers, input.new_name);
  const answer = await servers.ask<Answer>("rename_file", old_path, { old_path, new_path }, signal);
  const applied = await edits.apply({
    tool: "rename_symbol",
    label: `the move of ${shownPath(old_path, edits.place)} to ${shownPath(new_path, edits.place)}`,
    use,
    edits: answer.edits,
    move: { from: old_path, to: new_path },
    preview: input.preview,
  });
  if (applied.changes.length === 0) throw new EditProblem("The new path is that of the file.");
  const names = [...new Set(answer.edits.map(({ server }) => server))].join(", ");
  const by = names ? `imports by ${names}` : "no import had to change";
  if (input.preview) return previewed(`would move the file (${by}):`, applied, edits.place);
  return done(`moved the file (${by}):`, applied, edits.place, []);
}

function pathOf(servers: LanguageServers, given: string): string {
  refuseControlCharacters(given);
  return realPath(servers.file(given).file[0] as string);
}

function existing(servers: LanguageServers, given: string): string {
  const found = servers
    .file(given)
    .file.map(realPath)
    .find((path) => existsSync(path));
  if (found === undefined) throw new EditProblem(`${given} does not exist.`);
  return found;
}

function done(head: string, applied: Applied, root: string, remaining: string[]): ToolResult {
  const lines = [
    head,
    ...fileLines(applied.changes, root),
    ...problemLines(applied, root),
    ...remaining,
    "Read these files again before you edit them.",
  ];
  return texts(lines.join("\n"));
}

function previewed(head: string, applied: Applied, root: string): ToolResult {
  return texts([head, ...diffLines(applied.changes, root), "Nothing was changed."].join("\n"));
}

function ambiguous(
  { files, places }: NonNullable<Answer["candidates"]>,
  symbol: string,
  root: string,
): string {
  const list = places.map(({ file, line }) => {
    return `  ${shownPath(files[file - 1]?.path ?? "", root)}:${line}`;
  });
  const head = `Several symbols are called ${symbol}. Nothing was changed. Give \`line\`, or those around it (Parser.parse):`;
  return [head, ...list].join("\n");
}

/**
 * A server that knows an older text would put the new name somewhere else: it may only take the place
 * of a text in which the old one is.
 */
function sameText(name: string, newName: string): Judge {
  return (replaced, { newText }) => {
    const isOther = replaced !== "" && !replaced.toLowerCase().includes(name.toLowerCase());
    return isOther && newText.includes(newName)
      ? `has another text than the language server knows (${JSON.stringify(replaced.slice(0, 60))} instead of ${name}); try again in a moment`
      : undefined;
  };
}

function refuseControlCharacters(text: string): void {
  if (/\p{Cc}/u.test(text)) throw new EditProblem("The new name holds control characters.");
}
