import { existsSync } from "node:fs";
import * as v from "valibot";
import type { LanguagePlaces } from "../../editor/language";
import type { LanguageServers } from "../../language/servers";
import { realPath, shownPath } from "../../lib/paths";
import { counted } from "../../lib/visible";
import { type ToolResult, texts } from "../../mcp/protocol";
import { defineTool, type Tool, type ToolCall } from "../../mcp/tool";
import {
  type Applied,
  diffLines,
  type EditAnswer,
  fileLines,
  type LanguageEdits,
} from "../edits/language-edits";
import { EditProblem } from "../edits/workspace-edit";
import { ALWAYS_LOADED, SymbolLine, SymbolName } from "./language";

/** Paths are longer than names. */
const MAX_LENGTH = 4_096;

const Input = v.object({
  path: v.pipe(v.string(), v.description("A file in which the name occurs, or the file to move")),
  new_name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1),
    v.maxLength(MAX_LENGTH),
    v.description("The new name; without `symbol` the file's new path"),
  ),
  symbol: v.optional(SymbolName),
  line: v.optional(SymbolLine),
  preview: v.optional(v.pipe(v.boolean(), v.description("Show the edits, and change nothing"))),
});
type Input = v.InferOutput<typeof Input>;

interface Answer extends EditAnswer {
  name?: string;
  candidates?: LanguagePlaces;
}

/** Renames a symbol, or moves a file, by the language servers of the user's Neovim. */
export function renameSymbol(
  edits: LanguageEdits,
  servers: LanguageServers,
): Tool<"rename_symbol"> {
  return defineTool({
    name: "rename_symbol",
    description:
      "Rename a symbol wherever the language server knows it is used, or move a file and update what " +
      "imports it: one call instead of many edits. Writes the files and answers with what changed; " +
      "the user can undo it in the review.",
    input: Input,
    annotations: { destructiveHint: true },
    meta: ALWAYS_LOADED,
    call: (input, call) =>
      input.symbol ? rename(edits, servers, input, call) : move(edits, servers, input, call),
  });
}

async function rename(
  edits: LanguageEdits,
  servers: LanguageServers,
  { path, new_name, symbol = "", line, preview }: Input,
  { signal, use }: ToolCall,
): Promise<ToolResult> {
  refuseControlCharacters(new_name);
  const params = { symbol, new_name, ...(line && { line }) };
  const answer = (await servers.ask("rename_symbol", path, params, signal)) as Answer;
  if (answer.candidates) return texts(ambiguous(answer.candidates, symbol, edits.place));
  const name = answer.name ?? symbol;
  const renamed = { from: name, to: new_name };
  const applied = await edits.apply({ tool: "rename_symbol", use, answer, renamed, preview });
  if (applied.changes.length === 0) throw new EditProblem(`${name} is called so already.`);
  const places = applied.changes.reduce((sum, change) => sum + change.edits, 0);
  const where = `${counted(applied.changes.length, "file")}, ${counted(places, "place")}`;
  const what = `${name} to ${new_name} in ${where}, as ${answer.edits[0]?.server} reports`;
  return shown(preview, `rename ${what}`, `renamed ${what}`, applied, edits.place);
}

async function move(
  edits: LanguageEdits,
  servers: LanguageServers,
  { path, new_name, preview }: Input,
  { signal, use }: ToolCall,
): Promise<ToolResult> {
  const old_path = servers
    .file(path)
    .file.map(realPath)
    .find((one) => existsSync(one));
  if (old_path === undefined) throw new EditProblem(`${path} does not exist.`);
  refuseControlCharacters(new_name);
  const new_path = realPath(servers.file(new_name).file[0] as string);
  const params = { old_path, new_path };
  const answer = (await servers.ask("rename_file", undefined, params, signal)) as Answer;
  const moved = { from: old_path, to: new_path };
  const applied = await edits.apply({ tool: "rename_symbol", use, answer, move: moved, preview });
  if (applied.changes.length === 0) throw new EditProblem("The new path is that of the file.");
  const names = [...new Set(answer.edits.map(({ server }) => server))].join(", ");
  const by = names ? `imports by ${names}` : "no import had to change";
  return shown(preview, `move the file (${by})`, `moved the file (${by})`, applied, edits.place);
}

function shown(
  isPreview: boolean | undefined,
  plan: string,
  done: string,
  applied: Applied,
  root: string,
): ToolResult {
  const lines = isPreview
    ? [`would ${plan}:`, ...diffLines(applied, root), "Nothing was changed."]
    : [
        `${done}:`,
        ...fileLines(applied, root),
        "Texts that the server does not know may hold the name as well: use Grep.",
        "Read these files again before you edit them.",
      ];
  return texts(lines.join("\n"));
}

function ambiguous({ files, places }: LanguagePlaces, symbol: string, root: string): string {
  const list = places.map(
    ({ file, line }) => `  ${shownPath(files[file - 1]?.path ?? "", root)}:${line}`,
  );
  const head = `Several symbols are called ${symbol}. Nothing was changed. Give the \`path\` and \`line\` of one:`;
  return [head, ...list].join("\n");
}

function refuseControlCharacters(text: string): void {
  if (/\p{Cc}/u.test(text)) throw new EditProblem("The new name holds control characters.");
}
