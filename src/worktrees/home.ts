import { basename, join } from "node:path";
import { isProtected } from "../claude/protected";
import { Failure } from "../lib/errors";
import { isThere, statOf } from "../lib/paths";
import { type CommittedFile, committedFiles, headOf } from "../review/git/committed";
import { differingPaths, pathsBetween, repositoryAround } from "../review/git/differing";
import { Git, type GitWork, outputOf } from "../review/git/run";
import { asOnDisk } from "../review/state/commits";
import { asLines } from "../review/state/contents";
import type { HomeJournal } from "./journal";
import { type Both, type Coming, isSame, merge, type Side, sideOf, type Trees } from "./merge";

/** The most that is read. */
const MAX_BYTES = 100 * 1024 * 1024;
/** All commands of git for one question. */
export const GIT_MS = 5 * 60_000;

interface Conflict {
  /** Absolute. */
  path: string;
  why: string;
  /** The lines of the conflict markers, 1-based; none if the file stays as it is here. */
  lines: number[];
}

/** Asks git in a folder. Throws a Failure with the problem where the answer is undefined. */
export async function ask<T>(folder: string, work: GitWork<T | undefined>, problem?: string) {
  const answer = await Git.in(folder)?.run(work, GIT_MS);
  if (answer === undefined) throw new Failure(problem ?? `git fails in ${folder}.`);
  return answer;
}

/** The HEADs of both, and the last commit that they have in common. Throws a Failure. */
export async function branchPoint({ root, path }: Trees) {
  const head = await ask(path, headOf(path));
  const here = await ask(root, headOf(root));
  if (!head || !here) throw new Failure(`${head ? root : path} has no commit.`);
  const problem = `${path} and ${root} have no commit in common.`;
  return { head, here, base: await ask(root, outputOf("merge-base", here, head), problem) };
}

/**
 * Finds what a worktree changed, committed or not, since its branch point, or since it came home last, as this work
 * tree would have it: `coming` with conflict markers; `came`: files that are here already, and wait there; `repositories`
 * inside of it, which stay there. Nothing is written. Throws a Failure.
 */
export async function comingHome(trees: Trees, journal: HomeJournal) {
  const { root, path: tree } = trees;
  // Later commits have the rest.
  const { paths, repositories } = await ask(tree, differingPaths(tree));
  const dirty = new Set(paths);
  const { head, here, base } = await branchPoint(trees);
  const homes = journal.homes();
  // A file that came home may be taken back there since.
  const committed = [...(await ask(root, pathsBetween(base, head))), ...homes.keys()];
  // A sparse checkout lacks them.
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
    const began = await asStood(trees, path, bases.get(path), theirs);
    const beganHere = await asStood(trees, path, bases.get(path), ours);
    const cameHome = homes.has(path);
    // Files that came home and are committed here are not taken back.
    const keptHere = await asStood(trees, path, kept.get(path), ours);
    if (isSame(theirs, began) && (!cameHome || isSame(ours, keptHere))) continue;
    const last = homes.get(path);
    // The mode that it came with is not recorded.
    const then = last && { bytes: last, mode: (began ?? theirs)?.mode ?? 0, symlink: false };
    // A file that is as it was at the branch point comes whole, also again.
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

/** A committed file with the line ends that it has on disk, where they are the same to git. */
async function asStood(
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

/** The files that are not the same in both, in the order of their names, and those that are. */
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

/** Why nothing may be written at a path, whatever it is. */
function refusalOf(path: string, root: string): string | undefined {
  if (/\p{Cc}/u.test(path)) return "its name has control characters";
  if (isProtected(join(root, path), root)) return "its name runs or configures something";
  return repositoryAround(root, path) ? "here it lies in another repository" : undefined;
}

/** The lines of git's conflict markers. */
function markersIn(side: Side | undefined): number[] {
  const lines = Buffer.from(side?.bytes ?? "")
    .toString()
    .split("\n");
  return lines.flatMap((line, index) => (line.startsWith("<<<<<<< here") ? [index + 1] : []));
}
