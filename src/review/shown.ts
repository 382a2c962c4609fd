import { type Edits, rowOf } from "./decide/apply";
import type { Conflict, Undone } from "./decide/undo";
import { type Entry, type Kind, type ModeChange, modeOf } from "./state/entry";
import type { ReviewedProject } from "./state/reviewed-project";
import type { Hunk, Rows } from "./weave/hunks";
import type { Change } from "./weave/row";

/*
 * What Neovim receives of a review. Lines are bytes (Lua strings) without "\n"; a "\r" before it is
 * part of them.
 */

/** One call of a tool that made a hunk. */
export interface ShownOwner {
  session: string;
  /** Its number in the session, from 1; left out if its prompt was not recorded. */
  turn?: number;
  /** The prompt's text, at most 500 characters. */
  prompt?: string;
  agent?: string;
  tool: string;
  command?: string;
  /** ms since the epoch. */
  at: number;
}

export interface ShownHunk {
  /** Another one as soon as its text is another one. */
  id: string;
  /** First row (from 1) and count, in base text and present text; with count 0 the row above. */
  old: Rows;
  new: Rows;
  added: number;
  removed: number;
  /** The user has changed rows inside it: they stay when it is undone. */
  mixed: boolean;
  /** The user has changed a row of Claude's: undo asks what shall stand there. */
  conflict: boolean;
  /** It is undone when Claude's turn ends. */
  queued: boolean;
  owners: ShownOwner[];
  /** Only rows that differ are drawn: these are all of a file that was moved, and edited. */
  in_parts?: boolean;
  /** Left out of lists. */
  old_lines?: Uint8Array[];
  new_lines?: Uint8Array[];
}

export interface ShownFile {
  path: string;
  kind: Kind;
  /** What a renamed file was moved from. */
  from?: string;
  /** A renamed file still has the text of the other one. */
  same_text?: boolean;
  /** All of them. */
  hunk_count: number;
  /** Only the first one where the list would be too long. */
  hunks: ShownHunk[];
  /** Claude changed the permission bits. In a "changed" file that is an entry of its own. */
  mode?: ShownMode;
  owners: ShownOwner[];
  /** All of it, or a part, is undone when Claude's turn ends. */
  queued: boolean;
  /** Why the whole file cannot be undone: "FILE …". */
  cannot_undo?: string;
}

interface ShownMode {
  before: number;
  after: number;
  queued: boolean;
  owners: ShownOwner[];
}

export function shownFile(
  project: ReviewedProject,
  entry: Entry,
  hunks = entry.hunks,
  withLines = false,
) {
  const mode = modeOf(entry);
  const shown: ShownFile = {
    path: project.path(entry.file),
    kind: entry.kind,
    hunk_count: entry.hunks.length,
    hunks: hunks.map((hunk) => shownHunk(project, hunk, withLines)),
    owners: entry.owners.map((owner) => shownOwner(project, owner)),
    queued: entry.isQueued,
  };
  if (entry.from) shown.from = project.path(entry.from);
  if (entry.isSameText) shown.same_text = true;
  if (mode) shown.mode = shownMode(project, mode);
  if (entry.cannotUndo !== undefined) shown.cannot_undo = entry.cannotUndo;
  return shown;
}

function shownMode(project: ReviewedProject, { before, after, changes }: ModeChange): ShownMode {
  const queued = changes.some(({ queue }) => queue !== undefined);
  const owners = changes.map(({ by }) => shownOwner(project, by));
  return { before, after, queued, owners };
}

export function shownHunk(project: ReviewedProject, hunk: Hunk, withLines: boolean): ShownHunk {
  const { id, added, removed, mixed, conflict } = hunk;
  return {
    id,
    old: hunk.old,
    new: hunk.new,
    added,
    removed,
    mixed,
    conflict,
    queued: hunk.queued !== undefined,
    owners: hunk.owners.map((owner) => shownOwner(project, owner)),
    ...(hunk.isInParts && { in_parts: true }),
    ...(withLines && {
      old_lines: hunk.oldLines.map(rowOf),
      new_lines: hunk.newLines.map(rowOf),
    }),
  };
}

export function shownOwner(project: ReviewedProject, change: Change): ShownOwner {
  const { session, agent, tool, command, at } = change;
  const turn = project.sessions.turn(session, change.prompt);
  return {
    session,
    ...(turn && { turn: turn.number, prompt: turn.text }),
    ...(agent !== undefined && { agent }),
    tool,
    ...(command !== undefined && { command }),
    at,
  };
}

/** What a decision did. `decision` is left out if nothing was decided. */
export interface ShownDecision {
  decision?: string;
  /** It is carried out when Claude's turn ends. */
  queued?: boolean;
  files: {
    path: string;
    /** A sentence for the user: why nothing was done. */
    problem?: string;
    /** To be applied to the buffer whose text was sent, in this order, as one undo step. */
    edits?: Edits["edits"];
    /** Whether the last line then has a line end. */
    eol?: boolean;
    /** The file was removed from the disk. */
    removed?: boolean;
    conflicts?: { hunk: string; base: Uint8Array[]; claude: Uint8Array[]; now: Uint8Array[] }[];
  }[];
}

export function shownDecision(
  project: ReviewedProject,
  { decision, queued, files }: Undone,
): ShownDecision {
  return {
    ...(decision !== undefined && { decision }),
    ...(queued && { queued }),
    files: files.map(({ path, edits, conflicts, ...rest }) => ({
      path: `${project.root}/${path}`,
      ...rest,
      ...(edits && { edits: edits.edits, eol: edits.eol }),
      ...(conflicts && { conflicts: conflicts.map(shownConflict) }),
    })),
  };
}

function shownConflict({ hunk, base, claude, now }: Conflict) {
  return { hunk, base: base.map(rowOf), claude: claude.map(rowOf), now: now.map(rowOf) };
}
