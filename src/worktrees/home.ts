import { basename, join, relative } from "node:path";
import { isProtected } from "../edits/check";
import { hash, Operation } from "../edits/operation";
import type { FileChange } from "../edits/virtual-files";
import { UserError } from "../lib/errors";
import { isBelow, isThere, statOf } from "../lib/paths";
import { committedFiles } from "../review/git/committed";
import { differingPaths, pathsBetween, repositoryAround } from "../review/git/differing";
import { headOf } from "../review/git/head";
import { outputOf } from "../review/git/run";
import { ask } from "./git";
import { merge } from "./merge";
import { isExecutable, isSame, modeOf, type Side, sideOf } from "./side";

/** The most that is read. */
const MOST_BYTES = 100 * 1024 * 1024;

/** Two work trees of one repository, by the real paths of their tops. */
export interface Trees {
  /** The one here. */
  root: string;
  /** The linked one. */
  path: string;
}

type Sides = Record<"ours" | "theirs", Side | undefined>;

export interface Conflict {
  /** Absolute. */
  path: string;
  why: string;
  /** Of the conflict markers, 1-based; none where the file stays as it is here. */
  lines: number[];
}

/**
 * The times that a worktree has come home, and nobody has taken back: the newest first. A removed one of the same
 * path was another.
 */
export function homesOf(tree: string): Operation[] {
  const madeAt = statOf(join(tree, ".git"))?.mtimeMs ?? Number.POSITIVE_INFINITY;
  return Operation.all().filter(({ isDone, stored }) => {
    return isDone && stored.worktree?.path === tree && stored.at >= madeAt;
  });
}

/** The HEADs of both, and the last commit that they have in common. Throws a UserError. */
export async function branchPoint({ root, path }: Trees) {
  const head = await ask(path, headOf(path));
  const here = await ask(root, headOf(root));
  if (!head || !here) throw new UserError(`${head ? root : path} has no commit.`);
  const problem = `${path} and ${root} have no commit in common.`;
  return { head, here, base: await ask(root, outputOf("merge-base", here, head), problem) };
}

/**
 * What a worktree changed, committed or not, since its branch point, as this work tree would have it:
 * `changes` with conflict markers; `theirs`: what these files hold there, by their hashes; `head`: the commit
 * there; `repositories` inside of it, which stay there.
 * Nothing is written. Throws a UserError.
 */
export async function comingHome(trees: Trees) {
  const { root, path: tree } = trees;
  // What is committed from now on is in the commits.
  const { paths, repositories } = await ask(tree, differingPaths(tree));
  const dirty = new Set(paths);
  const { head, here, base } = await branchPoint(trees);
  const homes = homesOf(tree);
  // It may be taken back there since.
  const came = homes.flatMap(({ stored }) => stored.files.map((file) => file.path));
  const below = came.filter((path) => isBelow(path, root)).map((path) => relative(root, path));
  const committed = [...(await ask(root, pathsBetween(base, head))), ...below];
  // A sparse checkout lacks them.
  const absent = committed.filter((one) => !dirty.has(one) && !statOf(join(tree, one)));
  const sparse = await ask(tree, committedFiles(head, absent));
  const differ = sidesOf(new Set([...committed, ...paths]), trees, sparse);
  const bases = await ask(root, committedFiles(base, [...differ.keys()]));
  const kept = await ask(
    root,
    committedFiles(
      here,
      below.filter((one) => differ.has(one)),
    ),
  );
  const changes: FileChange[] = [];
  const coming: Record<string, string | null> = {};
  const conflicts: Conflict[] = [];
  for (const [name, { ours, theirs }] of differ) {
    const path = join(root, name);
    const base = bases.get(name);
    const seen = beforeHomes(path, ours, homes);
    // What came home and is committed here is no longer theirs to take back.
    if (isSame(theirs, base) && (seen === ours || isSame(ours, kept.get(name)))) continue;
    const refusal = refusalOf(name, root) ?? theirs?.problem ?? ours?.problem;
    const { after, conflict } = refusal
      ? { after: seen, conflict: refusal }
      : await ask(root, merge({ ours: seen, base, theirs }, basename(tree)));
    const stays = isSame(ours, after) || (conflict !== undefined && after === seen);
    const mode = modeOf(ours, isExecutable(after ?? ours));
    if (conflict !== undefined && cameHome(path, { ours, theirs }, homes)) continue;
    if (!stays) {
      changes.push({ path, before: ours?.bytes, after: after?.bytes, edits: 0, mode });
      coming[path] = hash(theirs?.bytes);
    }
    const lines = stays ? [] : markersIn(after?.bytes);
    if (conflict !== undefined) conflicts.push({ path, why: conflict, lines });
  }
  const inner = repositories.filter((one) => isThere(join(tree, one, ".git")));
  return { head, changes, theirs: coming, conflicts, repositories: inner };
}

/** The files that are not the same in both, in the order of their names. */
function sidesOf(paths: Set<string>, trees: Trees, sparse: Map<string, Side>) {
  const differ = new Map<string, Sides>();
  let bytes = 0;
  for (const path of [...paths].sort()) {
    const theirs = sparse.get(path) ?? sideOf(trees.path, path, "there");
    const sides = { ours: sideOf(trees.root, path, "here"), theirs };
    if (isSame(sides.ours, sides.theirs)) continue;
    differ.set(path, sides);
    for (const side of Object.values(sides)) bytes += side?.bytes?.length ?? 0;
    if (bytes > MOST_BYTES) throw new UserError("More than 100 MB would change.");
  }
  return differ;
}

/** Why nothing may be written at a path, whatever it is. */
function refusalOf(path: string, root: string): string | undefined {
  if (/\p{Cc}/u.test(path)) return "its name has control characters";
  if (isProtected(join(root, path), root)) return "its name runs or configures something";
  return repositoryAround(root, path) ? "here it lies in another repository" : undefined;
}

/** What a file held before the worktree came home into it as it is now, with the mode that the user has given it. */
function beforeHomes(path: string, ours: Side | undefined, homes: readonly Operation[]) {
  let side = ours;
  for (const home of homes) {
    const index = home.stored.files.findIndex((one) => one.path === path);
    const { after, mode } = home.stored.files[index] ?? {};
    if (after !== hash(side?.bytes) || side?.symlink) continue;
    const isAsCame =
      !side || isExecutable(side) === isExecutable({ ...side, mode: mode?.after ?? 0 });
    const bytes = home.before(index);
    side = bytes && { bytes, mode: (isAsCame ? mode?.before : side?.mode) ?? 0, symlink: false };
  }
  return side;
}

/** Whether this came home already, and the user has made something else of it: neither as it was before. */
function cameHome(path: string, { ours, theirs }: Sides, homes: readonly Operation[]): boolean {
  const last = homes.find(({ stored }) => stored.worktree?.theirs?.[path] !== undefined)?.stored;
  const before = last?.files.find((one) => one.path === path)?.before;
  return last?.worktree?.theirs?.[path] === hash(theirs?.bytes) && before !== hash(ours?.bytes);
}

function markersIn(text: Uint8Array = new Uint8Array()): number[] {
  const lines = Buffer.from(text).toString().split("\n");
  return lines.flatMap((line, index) => (line.startsWith("<<<<<<< here") ? [index + 1] : []));
}
