import type { FileOutline, OutlineAnswer, OutlineSymbol } from "./answer";
import type { ProjectFiles } from "./project-files";
import { isReady, stateLine } from "./state-line";

const MOST_CHARACTERS = 8_000;
const MOST_DETAIL = 100;

/** `outline`'s answer: what each file declares, indented, with the lines of the declarations. */
export function outlineText(answer: OutlineAnswer, depth: number, project: ProjectFiles): string {
  const { files, states } = answer;
  const lines: string[] = [];
  let characters = 0;
  let cut = 0;
  for (const file of files) {
    for (const line of fileLines(file, depth, project)) {
      characters += line.length + 1;
      if (characters > MOST_CHARACTERS) cut++;
      else lines.push(line);
    }
  }
  if (cut > 0) lines.push(`… ${cut} more lines (ask with a smaller \`depth\`, or for one file)`);
  if (answer.left > 0) lines.push(`… ${answer.left} more files (ask for a folder below this one)`);
  if (states.length > 0) lines.push(stateLine(states, isReady(states, true)));
  return lines.join("\n");
}

function fileLines(file: FileOutline, depth: number, project: ProjectFiles): string[] {
  const name = project.nameOf(file.path);
  if (file.failure) return [`${name}: ${file.failure}`];
  const unsaved = file.unsaved ? " (unsaved in Neovim; lines as on disk)" : "";
  const symbols = file.symbols.filter((symbol) => symbol.depth < depth);
  return [`${name}${unsaved}`, ...symbols.map(symbolLine)];
}

function symbolLine({ name, kind, detail, depth, first_line, last_line }: OutlineSymbol): string {
  const lines = last_line > first_line ? `${first_line}-${last_line}` : String(first_line);
  // clangd: a struct is a "struct".
  const more =
    detail && detail !== kind ? ` ${detail.replaceAll(/\s+/g, " ").slice(0, MOST_DETAIL)}` : "";
  return `${"  ".repeat(depth + 1)}${lines} ${kind} ${name}${more}`;
}
