import { statSync } from "node:fs";
import { gitFolder } from "../../lib/git-folder";
import { join } from "../../lib/platform";
import { headOf, indexInfo, rawChanges, stagedAt, treeOf } from "../git/committed";
import { command, Git, type GitWork } from "../git/run";
import { committedPart, textOf } from "../state/commits";
import type { Entry } from "../state/entry";
import type { ReviewedProject, View } from "../state/reviewed-project";
import { type Lines, sameLines } from "../weave/lines";

/** Each entry needs a few runs of git. */
const MAX_FILES = 200;
/** The clocks of hooks and of the file system may differ by this much. */
const CLOCKS_MS = 5_000;
/** A missing entry, with as many zeros as blobs have digits in this repository (SHA-1 or SHA-256). */
const noEntry = (other: string) => `0 ${"0".repeat(other.length - other.indexOf(" ") - 1)}`;

/** An entry of git's index before and after a decision: `MODE BLOB`, with mode 0 for no entry. */
export type IndexChange = readonly [before: string, after: string];

interface Undoing {
  entry: Pick<Entry, "file" | "kind" | "owners">;
  view: View;
  target: Lines;
  mode: number | undefined;
}

/** The changes of git's index by an undo, by path. */
export interface IndexPlan {
  /** The entries that Claude staged, and that no one has changed since. */
  changes: ReadonlyMap<string, IndexChange>;
  /** Files whose entries contain changes by Claude, but stay. */
  left: ReadonlySet<string>;
}

/**
 * Finds entries that Claude staged for the files of an undo. If an entry has the same text as the file, it gets the text
 * after the undo; if someone has changed it since, it stays.
 */
export async function plannedIndex(
  project: ReviewedProject,
  undoings: readonly Undoing[],
): Promise<IndexPlan> {
  const git = mayHold(project.root, undoings) ? Git.in(project.root) : undefined;
  if (!git) return { changes: new Map(), left: new Set() };
  return await git.run(plan(project, undoings));
}

/** Whether the index was written after the first of these calls began. Otherwise we need not run git, which is slow. */
function mayHold(root: string, undoings: readonly Undoing[]): boolean {
  const folder = gitFolder(root);
  if (folder === undefined) return false;
  const index = statSync(join(folder, "index"), { throwIfNoEntry: false });
  const owners = undoings.flatMap(({ entry }) => entry.owners);
  const first = Math.min(...owners.map(({ since = 0 }) => since));
  return index !== undefined && index.mtimeMs > first - CLOCKS_MS;
}

function* plan(project: ReviewedProject, undoings: readonly Undoing[]): GitWork<IndexPlan> {
  const changes = new Map<string, IndexChange>();
  const left = new Set<string>();
  const byPath = new Map(undoings.map((one) => [one.entry.file.path, one]));
  const paths = byPath.size > MAX_FILES ? [] : [...byPath.keys()];
  const head = yield* headOf(project.root);
  const tree = head === undefined ? undefined : yield* treeOf(head);
  if (tree === undefined) return { changes, left: new Set(byPath.keys()) };
  const args = ["--literal-pathspecs", "diff-index", "--cached", "-z", tree, "--", ...paths];
  for (const [path, { before, after, status }] of rawChanges((yield { args }).stdout.toString())) {
    const undoing = byPath.get(path);
    if (!undoing || status === "U") continue;
    if (changes.size + left.size >= MAX_FILES) {
      left.add(path);
      continue;
    }
    const committed = { entry: before, lines: yield* textOf(path, before, undoing.view.lines) };
    const staged = { entry: after, lines: yield* textOf(path, after, undoing.view.lines) };
    if (!holdsClaudes(undoing, committed, staged)) continue;
    const isClaudes = staged.lines && sameLines(staged.lines, undoing.view.lines);
    const undone = isClaudes ? yield* entryFor(project, undoing, committed, staged) : undefined;
    if (undone === undefined) left.add(path);
    else changes.set(path, [after, undone]);
  }
  return { changes, left };
}

interface Blob {
  entry: string;
  lines: Lines | undefined;
}

function holdsClaudes({ entry, view, mode }: Undoing, committed: Blob, staged: Blob): boolean {
  if (!committed.lines || !staged.lines) return false;
  const [was, is] = [committed.lines, staged.lines];
  const isWhole = entry.kind === "created" || entry.kind === "deleted";
  if (isWhole && (was.length === 0) !== (is.length === 0)) return true;
  const modes = [committed.entry, staged.entry].map((one) => one.split(" ")[0]);
  if (mode !== undefined && modes[0] !== modes[1]) return true;
  return committedPart(view, was, is, entry.kind === "created") !== undefined;
}

/** The entry for the text after the undo. */
function* entryFor(
  project: ReviewedProject,
  { entry, target }: Undoing,
  committed: Blob,
  staged: Blob,
): GitWork<string | undefined> {
  if (target.length === 0) return noEntry(staged.entry);
  if (committed.lines && sameLines(committed.lines, target)) return committed.entry;
  const input = project.contents.bytes(target);
  if (!input) return undefined;
  const args = ["hash-object", "-w", "--stdin", `--path=${entry.file.path}`];
  const { code, stdout } = yield { args, input };
  const [mode] = (staged.lines?.length ? staged : committed).entry.split(" ");
  return code === 0 ? `${mode} ${stdout.toString().trim()}` : undefined;
}

/** Puts entries into the index. Returns whether git succeeded. */
export async function changeIndex(
  project: ReviewedProject,
  entries: ReadonlyMap<string, string>,
): Promise<boolean> {
  if (entries.size === 0) return true;
  const { args, input } = indexInfo(entries);
  return (await Git.in(project.root)?.run(command(args, { input })))?.code === 0;
}

/** The entries from before an undo, for the entries of `changes` that have not changed since it. */
export async function indexBefore(
  project: ReviewedProject,
  changes: ReadonlyMap<string, IndexChange>,
): Promise<Map<string, string>> {
  const git = changes.size > 0 ? Git.in(project.root) : undefined;
  const now = git && (await git.run(stagedAt([...changes.keys()])));
  const same = [...changes].filter(([path, [, after]]) => {
    return now && (now.get(path) ?? noEntry(after)) === after;
  });
  return new Map(same.map(([path, [before]]) => [path, before]));
}
