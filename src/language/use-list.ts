import { counted } from "../lib/visible";
import { enclosing } from "./enclosing";
import { code, type SourceLines } from "./source-lines";
import type { UseLine, Uses, UsesOfFile } from "./uses";

/** What is left out is counted, always. */
export interface Budget {
  lines: number;
  characters: number;
}

/** Files with their lines, as ripgrep shows them: with code, then lines alone, then counts. */
export function useList({ files }: Uses, budget: Budget, source: SourceLines): string[] {
  const result: string[] = [];
  const rest: UsesOfFile[] = [];
  let characters = 0;
  let lines = 0;
  for (const file of files) {
    const full = withCode(file, Math.max(budget.lines - lines, 0), source);
    const short = `${heading(file)}: ${numbers(file.lines)}`;
    const used = characters + lengthOf(full.text);
    if (full.shown > 0 && used <= budget.characters * 0.75) {
      result.push(...full.text);
      characters = used;
      lines += full.shown;
    } else if (characters + short.length < budget.characters) {
      result.push(short);
      characters += short.length + 1;
    } else {
      rest.push(file);
    }
  }
  if (rest.length > 0) result.push(remainder(rest));
  return result;
}

function heading(file: UsesOfFile): string {
  if (file.unmapped) return `${file.name} (unsaved in Neovim; lines as in Neovim)`;
  return file.unsaved ? `${file.name} (unsaved in Neovim; lines as on disk)` : file.name;
}

function withCode(
  file: UsesOfFile,
  most: number,
  source: SourceLines,
): { text: string[]; shown: number } {
  const shown = file.lines.slice(0, most);
  const text = [heading(file), ...shown.map((use) => lineOf(use, source.of(file.path)))];
  const left = file.lines.slice(most);
  if (left.length > 0) text.push(`  … also ${numbers(left)}`);
  return { text, shown: shown.length };
}

function lineOf(use: UseLine, lines: readonly string[]): string {
  const declaration = enclosing(lines, use.line - 1);
  const within = declaration ? `${declaration}: ` : "";
  const twice = use.columns.length > 1 ? ` (${use.columns.length}×)` : "";
  const unsaved = use.isUnsaved ? "+unsaved" : "";
  return `  ${use.line}${unsaved} ${within}${code(use.text)}${twice}`;
}

const MOST_NUMBERS = 30;

function numbers(lines: readonly UseLine[]): string {
  const shown = lines.slice(0, MOST_NUMBERS).map(({ line }) => line);
  const more = lines.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more lines` : "");
}

const MOST_FOLDERS = 12;

function remainder(files: readonly UsesOfFile[]): string {
  const folders = new Map<string, { uses: number; files: number }>();
  for (const { name, count } of files) {
    const folder = name.includes("/") ? name.slice(0, name.lastIndexOf("/") + 1) : "./";
    const entry = folders.get(folder) ?? { uses: 0, files: 0 };
    folders.set(folder, { uses: entry.uses + count, files: entry.files + 1 });
  }
  const sorted = [...folders].sort(([, a], [, b]) => b.uses - a.uses);
  const shown = sorted
    .slice(0, MOST_FOLDERS)
    .map(([folder, { uses, files: n }]) => `${folder} ${uses} in ${counted(n, "file")}`);
  const uses = files.reduce((sum, { count }) => sum + count, 0);
  const others = sorted.length - shown.length;
  const tail = others > 0 ? `, and ${others} more folders` : "";
  return `… ${uses} more: ${shown.join(", ")}${tail} (narrow with \`within\`)`;
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}
