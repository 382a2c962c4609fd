import { rowOf } from "./decide/apply";
import type { Undone } from "./decide/undo";
import { countsOf, type Entry, modeOf } from "./state/entry";
import type { ReviewedProject } from "./state/reviewed-project";
import type { Hunk } from "./weave/hunks";
import { blobOf } from "./weave/lines";
import { ALL, type Change } from "./weave/row";

/*
 * The review's data for Neovim: the classes ReviewFile, ReviewHunk and ReviewOwner of
 * lua/claude-code/editor/review/buffer.lua, and Decision of outcome.lua. Lines are bytes (Lua strings) without "\n", but
 * with a "\r" before it.
 */

/** The byte order mark of UTF-8, in Latin-1. */
const MARK = "\u00ef\u00bb\u00bf";

/** Bytes of a line in the list. */
const MAX_CODE = 200;

export type ShownFile = ReturnType<typeof shownFile>;
export type ShownDecision = ReturnType<typeof shownDecision>;

/** Shows only `count` hunks; the version covers all of them. */
export function shownFile(project: ReviewedProject, entry: Entry, count = entry.hunks.length) {
  const mode = modeOf(entry);
  const { from, isSameText, cannotUndo } = entry;
  const { added, removed } = countsOf([entry]);
  const shown = {
    path: project.path(entry.file),
    kind: entry.kind,
    ...(isBinary(entry) && { binary: true }),
    ...(from && { from: project.path(from) }),
    ...(isSameText && { same_text: true }),
    hunk_count: entry.hunks.length,
    added,
    removed,
    hunks: entry.hunks.map((hunk) => shownHunk(project, hunk)),
    ...(mode && {
      mode: {
        before: mode.before,
        after: mode.after,
        owners: mode.changes.map(({ by }) => shownOwner(project, by)),
      },
    }),
    owners: entry.owners.map((owner) => shownOwner(project, owner)),
    ...(cannotUndo !== undefined && { cannot_undo: cannotUndo }),
  };
  // A hunk's id changes with its lines.
  return { ...shown, hunks: shown.hunks.slice(0, count), version: versionOf(shown) };
}

/** Whether Neovim cannot show the file: its content is binary (for a deleted file, was binary), or it is a symlink. */
function isBinary({ file, kind, view }: Entry): boolean {
  if (file.symlink && kind !== "deleted") return true;
  const lines = kind === "deleted" ? view?.weave.base(ALL) : view?.lines;
  return kind === "binary" || (lines !== undefined && blobOf(lines) !== undefined);
}

export function versionOf(answer: unknown): string {
  return Bun.hash(JSON.stringify(answer)).toString(36);
}

export function shownHunk(project: ReviewedProject, hunk: Hunk, withLines = false) {
  const { id, added, removed, mixed, conflict } = hunk;
  const ends = endsOf(hunk);
  return {
    id,
    old: hunk.old,
    new: hunk.new,
    added,
    removed,
    mixed,
    ...(conflict && { conflict }),
    ...(ends !== undefined && { ends }),
    ...(hunk.isInParts && { in_parts: true }),
    ...(!withLines && {
      code: rowOf(codeOf(hunk)).subarray(0, MAX_CODE),
      owners: hunk.owners.map((owner) => shownOwner(project, owner)),
    }),
    ...(withLines && { old_lines: hunk.oldLines.map(rowOf) }),
    ...(withLines && (mixed || hunk.isInParts) && { new_lines: hunk.newLines.map(rowOf) }),
  };
}

/** The first new line that is not blank, or else the first such old line. */
function codeOf({ newLines, oldLines }: Hunk): string {
  return [...newLines, ...oldLines].find((line) => line.trim() !== "")?.trimStart() ?? "";
}

/** Names a difference in invisible bytes, with the words that diffs use (`change_of_ends` in diff/text.lua). */
function endsOf({ oldLines, newLines }: Hunk): string | undefined {
  const bare = (line: string | undefined) => line?.replace(MARK, "").replace(/\r?\n$/, "");
  const isSame = oldLines.every((line, i) => bare(line) === bare(newLines[i]));
  if (!isSame || oldLines.length === 0 || oldLines.length !== newLines.length) return undefined;
  const [hadNewline, hasNewline] = [oldLines, newLines].map((lines) =>
    lines.at(-1)?.endsWith("\n"),
  );
  if (hadNewline !== hasNewline) return `last newline ${hasNewline ? "added" : "removed"}`;
  const isMarked = newLines[0]?.startsWith(MARK) ?? false;
  if (isMarked !== oldLines[0]?.startsWith(MARK)) {
    return `byte order mark ${isMarked ? "added" : "removed"}`;
  }
  const isCrlf = newLines.some((line, i) => line !== oldLines[i] && line.endsWith("\r\n"));
  return `line ends: ${isCrlf ? "LF to CRLF" : "CRLF to LF"}`;
}

export function shownOwner(project: ReviewedProject, change: Change) {
  const { session, agent, tool, command, at } = change;
  const turn = project.sessions.turns(session)[(change.turn ?? 0) - 1];
  return {
    session,
    ...(turn && { turn: turn.number, prompt: turn.text }),
    ...(agent !== undefined && { agent }),
    tool,
    ...(command !== undefined && { command }),
    at,
  };
}

export function shownDecision(project: ReviewedProject, { decision, changed, files }: Undone) {
  return {
    ...(decision !== undefined && { decision }),
    ...(changed && { changed }),
    files: files.map((file) => ({ ...file, path: `${project.root}/${file.path}` })),
  };
}
