import { compare } from "../weave/compare";
import type { Hunk, Rows } from "../weave/hunks";
import { FILE, type Lines } from "../weave/lines";
import { type Change, inBase, type Row, type Scope } from "../weave/row";
import type { View } from "./reviewed-project";

interface Moved {
  view: View;
  hunks: readonly Hunk[];
  owners: readonly Change[];
}

/**
 * What Claude has changed in a file besides its name, as one hunk of all lines; none if that is nothing.
 * `origin`: the text that the file had under its old name, without Claude's changes.
 */
export function movedHunk({ view, hunks, owners }: Moved, origin: Lines, scope: Scope): Hunk[] {
  const old = lastingLines(view.weave.rows, withoutFile(origin), scope);
  const now = withoutFile(view.lines);
  const changes = compare(old, now);
  if (changes.length === 0) return [];
  const sum = (count: (change: (typeof changes)[number]) => number) =>
    changes.reduce((all, change) => all + count(change), 0);
  return [
    {
      id: `moved-${Bun.hash([...old, "\0", ...now].join("")).toString(36)}`,
      old: rowsOf(old),
      new: rowsOf(now),
      oldLines: old,
      newLines: now,
      claudeLines: [],
      added: sum(({ newStart, newEnd }) => newEnd - newStart),
      removed: sum(({ oldStart, oldEnd }) => oldEnd - oldStart),
      owners,
      mixed: hunks.some(({ mixed }) => mixed),
      conflict: hunks.map(({ conflict }) => conflict).find(Boolean),
      isInParts: true,
    },
  ];
}

/**
 * The file's lines without Claude's edits: what came with the move, and stood in the old file, counts
 * as not Claude's; what the user has changed since stays changed.
 */
function lastingLines(rows: readonly Row[], old: Lines, scope: Scope): string[] {
  const created = rows.findLast((row) => row.line === FILE)?.inserted;
  const hasCome = ({ line, inserted }: Row) =>
    line !== FILE && inserted.by === created?.by && inserted.step === created.step;
  const come = rows.filter(hasCome).map(({ line }) => line);
  const gone = new Map<number, Lines>();
  const added = new Set<number>();
  for (const { oldStart, oldEnd, newStart, newEnd } of compare(old, come)) {
    gone.set(newStart, old.slice(oldStart, oldEnd));
    for (let i = newStart; i < newEnd; i++) added.add(i);
  }
  const lines: string[] = [];
  let at = 0;
  for (const row of rows) {
    const isOld = hasCome(row) && !added.has(at);
    const { undo } = row.inserted;
    if (hasCome(row)) lines.push(...(gone.get(at++) ?? []));
    const lasting: Row = isOld ? { ...row, inserted: { by: "original", step: 0, undo } } : row;
    if (row.line !== FILE && inBase(lasting, scope)) lines.push(row.line);
  }
  return [...lines, ...(gone.get(at) ?? [])];
}

function withoutFile(lines: Lines): Lines {
  return lines.filter((line) => line !== FILE);
}

function rowsOf({ length }: Lines): Rows {
  return [Math.min(length, 1), length];
}
