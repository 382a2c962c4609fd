import { SEVERITY_NAMES } from "../../editor/model";
import type { FileChange } from "../../edits/virtual-files";
import { shownPath } from "../../lib/paths";
import { counted } from "../../lib/visible";
import { compare } from "../../review/weave/compare";
import type { Applied } from "./language-edits";

const MOST_FILES = 60;
const MOST_PROBLEMS = 20;
const MOST_LINES = 80;
const MOST_LENGTH = 160;

/** The changed files, each with what was done: one line for each. */
export function fileLines(changes: readonly FileChange[], root: string): string[] {
  const moved = new Set(changes.flatMap(({ from }) => from ?? []));
  const lines = changes
    .filter(({ path, after }) => after || !moved.has(path))
    .map((change) => `  ${shownPath(change.path, root)}  ${whatOf(change, root)}`);
  if (lines.length <= MOST_FILES) return lines;
  return [...lines.slice(0, MOST_FILES), `  … and ${lines.length - MOST_FILES} more`];
}

function whatOf({ before, after, from, edits }: FileChange, root: string): string {
  const places = edits > 0 ? counted(edits, "edit") : "";
  if (from) return [`moved from ${shownPath(from, root)}`, places].filter(Boolean).join(", ");
  if (!after) return "deleted";
  return before ? places : "created";
}

/** What language servers report now. */
export function problemLines({ problems }: Applied, root: string): string[] {
  if (problems.items.length === 0) return ["no new problems reported by the language servers"];
  const lines = problems.items.slice(0, MOST_PROBLEMS).map(({ path, item }) => {
    const place = `${shownPath(path, root)}:${item.lnum + 1}`;
    const age = problems.known.includes(path) ? "" : " (may be older)";
    const [text = ""] = item.message.trim().split("\n", 1);
    return `  ${place} ${SEVERITY_NAMES.compiler[item.severity - 1]}: ${shortened(text)}${age}`;
  });
  const more = problems.items.length - lines.length;
  return ["problems now:", ...lines, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

/** The lines that change, file by file: "12- old", "12+ new". */
export function diffLines(changes: readonly FileChange[], root: string): string[] {
  const lines = changes.flatMap((change) => [
    `${shownPath(change.path, root)}  ${whatOf(change, root)}`,
    ...hunkLines(change),
  ]);
  if (lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, MOST_LINES), `… and ${lines.length - MOST_LINES} more lines`];
}

function hunkLines({ before, after }: FileChange): string[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  return compare(old, now).flatMap(({ oldStart, oldEnd, newStart, newEnd }) => [
    ...old.slice(oldStart, oldEnd).map((line, i) => `  ${oldStart + i + 1}- ${shortened(line)}`),
    ...now.slice(newStart, newEnd).map((line, i) => `  ${newStart + i + 1}+ ${shortened(line)}`),
  ]);
}

function linesOf(bytes: Uint8Array | undefined): string[] {
  if (!bytes || bytes.length === 0) return [];
  return Buffer.from(bytes)
    .toString()
    .replace(/^\uFEFF|\r?\n$/g, "")
    .split(/\r?\n/);
}

function shortened(text: string): string {
  return text.length > MOST_LENGTH ? `${text.slice(0, MOST_LENGTH - 1)}…` : text;
}
