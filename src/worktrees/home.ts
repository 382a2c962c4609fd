import { isProtected } from "../claude/protected";
import { Failure } from "../lib/errors";
import { isThere, statOf } from "../lib/paths";
import { basename, join } from "../lib/platform";
import { type CommittedFile, committedFiles, headOf } from "../review/git/committed";
import { differingPaths, pathsBetween, repositoryAround } from "../review/git/differing";
import { Git, type GitWork, outputOf } from "../review/git/run";
import { asOnDisk } from "../review/state/commits";
import { asLines } from "../review/state/contents";
import type { HomeJournal } from "./journal";
import { type Both, type Coming, isSame, merge, type Side, sideOf, type Trees } from "./merge";

/** The total size of the files that we read. */
const MAX_BYTES = 100 * 1024 * 1024;
/** The limit of all git commands for one question. */
export const GIT_MS = 5 * 60_000;

interface Conflict {
  /** Absolute. */
  path: string;
  why: string;
  /** The lines of conflict markers, 1-based; empty if the file stays unchanged. */
  lines: number[];
}

/** Asks git in a folder. Throws Failure with the problem if the answer is undefined. */
export async function ask<T>(folder: string, work: GitWork<T | undefined>, problem?: string) {
  const answer = await Git.in(folder)?.run(work, GIT_MS);
  if (answer === undefined) throw new Failure(problem ?? `git fails in ${folder}.`);
  return answer;
}

/** HEAD there and here, and their last common commit. Throws Failure. */
export async function branchPoint({ root, path }: Trees) {
  const head = await ask(path, headOf(path));
  const here = await ask(root, headOf(root));
  if (!head || !here) throw new Failure(`${head ? root : path} has no commit.`);
  const problem = `${path} and ${root} have no commit in common.`;
  return { head, here, base: await ask(root, outputOf("merge-base", here, head), problem) };
}

/**
 * Finds a worktree's changes, committed or not, since its branch point or since it last came home, merged into the files
 * here. `coming` has conflict markers, `came` are files that are already here but still wait there, and `repositories` are
 * inner ones, which stay there. Writes nothing. Throws Failure.
 */
export async function comingHome(trees: Trees, journal: HomeJournal) {
  const { root, path: tree } = trees;
  // Read before HEAD: files that are committed in between are in the commits.
  const { paths, repositories } = await ask(tree, differingPaths(tree));
  const dirty = new Set(paths);
  const { head, here, base } = await branchPoint(trees);
  const homes = journal.homes();
  // The worktree may have reverted a file since it came home.
  const committed = [...(await ask(root, pathsBetween(base, head))), ...homes.keys()];
  // A sparse checkout lacks files of HEAD.
  const absent = committed.filter((one) => !dirty.has(one) && !statOf(join(tree, one)));
  const sparse = await ask(tree, committedFiles(head, absent));
  const { differ, same } = sidesOf(new Set([...committed, ...paths]), trees, sparse);
  const names = differ.map(({ path }) => path);
  const bases = await ask(root, committedFiles(base, names));
  const kept = await ask(root, committedFiles(here, [...homes.keys()]));
  const coming: Coming[] = [];
  const conflicts: Conflict[] = [];
  const came = same.filter(({ path, ours }) => journal.cameBefore(path, ours));
  for (const { path, ours, theirs } of differ) {
    const began = await withEndsOnDisk(trees, path, bases.get(path), theirs);
    const beganHere = await withEndsOnDisk(trees, path, bases.get(path), ours);
    const cameHome = homes.has(path);
    // Do not revert a file that came home and is committed here.
    const keptHere = await withEndsOnDisk(trees, path, kept.get(path), ours);
    if (isSame(theirs, began) && (!cameHome || isSame(ours, keptHere))) continue;
    const last = homes.get(path);
    // The journal does not record the mode with which the file came.
    const then = last && { bytes: last, mode: (began ?? theirs)?.mode ?? 0, symlink: false };
    // A file that has not changed here since the branch point comes as a whole, even again.
    const since = cameHome && !isSame(ours, beganHere) ? then : beganHere;
    const mergeOf = (side: Side | undefined) =>
      ask(root, merge({ ours, base: since, theirs: side }, basename(tree)));
    const refusal = refusalOf(path, root) ?? theirs?.problem ?? ours?.problem;
    const merged = refusal ? { after: ours, conflict: refusal } : await mergeOf(theirs);
    const { after, conflict } = merged;
    const stays = isSame(ours, after);
    if (conflict !== undefined) {
      const lines = stays ? [] : markersIn(after);
      conflicts.push({ path: join(root, path), why: conflict, lines });
    } else if (stays && journal.cameBefore(path, ours)) came.push({ path, ours, theirs });
    if (stays) continue;
    const settled = journal.settled(path, theirs, began);
    const known = settled && (await mergeOf(settled.side));
    const reviewed = known && !known.conflict ? known.after : ours;
    coming.push({ path, ours, theirs, after, reviewed });
  }
  const inner = repositories.filter((one) => isThere(join(tree, one, ".git")));
  return { coming, conflicts, came, repositories: inner };
}

/** A committed file with the line ends on disk, if git makes the same blob of them. */
async function withEndsOnDisk(
  { root }: Trees,
  path: string,
  committed: CommittedFile | undefined,
  onDisk: Side | undefined,
): Promise<CommittedFile | undefined> {
  if (!committed?.bytes || !onDisk?.bytes) return committed;
  const { blob = "", bytes } = committed;
  const work = asOnDisk(path, blob, bytes, asLines(onDisk.bytes));
  return { ...committed, bytes: await ask(root, work) };
}

/** The files that differ between both work trees, in order of their paths, and those that do not. */
function sidesOf(paths: Set<string>, trees: Trees, sparse: Map<string, Side>) {
  const [differ, same]: [Both[], Both[]] = [[], []];
  let bytes = 0;
  for (const path of [...paths].sort()) {
    const theirs = sparse.get(path) ?? sideOf(trees.path, path, "there");
    const ours = sideOf(trees.root, path, "here");
    bytes += (ours?.bytes?.length ?? 0) + (theirs?.bytes?.length ?? 0);
    if (bytes > MAX_BYTES) throw new Failure("More than 100 MB would change.");
    (isSame(ours, theirs) ? same : differ).push({ path, ours, theirs });
  }
  return { differ, same };
}

/** Why we may not write to a path at all. */
function refusalOf(path: string, root: string): string | undefined {
  if (/\p{Cc}/u.test(path)) return "its name has control characters";
  if (isProtected(join(root, path), root)) return "its name runs or configures something";
  return repositoryAround(root, path) ? "here it is in another repository" : undefined;
}

/** The lines of git's conflict markers. */
function markersIn(side: Side | undefined): number[] {
  const lines = Buffer.from(side?.bytes ?? "")
    .toString()
    .split("\n");
  return lines.flatMap((line, index) => (line.startsWith("<<<<<<< here") ? [index + 1] : []));
}
