import { UserError } from "../../lib/errors";
import { headOf, treeOf } from "../git/committed";
import { type GitOptions, type GitResult, type GitWork, outputOf } from "../git/run";
import type { Entries } from "../git/staged";
import { asLines } from "../state/contents";
import type { ReviewedProject, View } from "../state/reviewed-project";
import type { FileMark, TrackedFile } from "../state/tracked-file";
import { compare } from "../weave/compare";
import { keptText } from "../weave/kept-text";
import { bytesOf, isText, type Lines, sameLines } from "../weave/lines";
import { type Change, isClaude } from "../weave/row";

/** Node's longest timer, 24 days: a hook or a user takes as long as they like. */
export const MOST_MS = 2 ** 31 - 1;
const LINK = "120000";
/** So many files, and lines of what a program says, are in a message. */
const MOST_NAMED = 10;

export interface CommitPlan {
  /** Null before the first commit. */
  head: string | null;
  /** Of HEAD; empty before the first commit. */
  tree: string;
  entries: Entries;
  hunks: number;
  /** The prompts that made these hunks, in their order. */
  prompts: string[];
  /** Sentences for the user: which files are left out, or are not as they look. */
  notes: string[];
}

/** What HEAD has at a path; no lines where it is not there. */
interface AtHead {
  mode: string;
  blob: string;
  /** As a checkout writes them, with the line ends that the file has on disk. */
  lines: Lines;
  bytes: Uint8Array;
}

/**
 * What a commit of all that the user has kept is to hold, and HEAD does not. Blobs are written. `texts`: of buffers
 * with unsaved changes. Throws UserError, with names, where git's index differs from HEAD.
 */
export function* planned(
  project: ReviewedProject,
  texts: ReadonlyMap<string, Uint8Array>,
): GitWork<CommitPlan> {
  const head = yield* headOf(project.root);
  const tree = head === undefined ? undefined : yield* treeOf(head);
  if (head === undefined || tree === undefined)
    throw new UserError(`git cannot read HEAD of ${project.root}`);
  const hasModes = (yield* outputOf("config", "--type=bool", "core.fileMode")) !== "false";
  const differing = yield* differingFrom();
  const plan: CommitPlan = { head, tree, entries: new Map(), hunks: 0, prompts: [], notes: [] };
  const owners = new Set<Change>();
  for (const file of project.files.values()) {
    const { path } = file;
    const text = texts.get(path);
    const view = differing.has(path) || text ? project.view(file) : undefined;
    if (!view) continue;
    if (text && isUnsaved(view, project.view(file, text))) {
      plan.notes.push(
        `${path} has a change in its buffer that you kept: write it, and commit again`,
      );
    }
    const reason = yield* planFile({ project, file, view, plan, owners, hasModes });
    if (reason) plan.notes.push(`${path} is left out: it ${reason}`);
  }
  const turns = [...owners].map(({ session, prompt }) => project.sessions.turn(session, prompt));
  const inOrder = turns.filter((turn) => turn !== undefined).sort((a, b) => a.at - b.at);
  plan.prompts = [...new Set(inOrder.map(({ text }) => text))];
  return plan;
}

/**
 * The paths that git sees to differ from HEAD, untracked ones included. Throws where some are staged: they
 * would be committed, too.
 */
function* differingFrom(): GitWork<ReadonlySet<string>> {
  const options = ["--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
  const status = yield* git(["--no-optional-locks", "status", "--porcelain", "-z", ...options]);
  const entries = status.split("\0").filter(Boolean);
  const staged = entries.filter((entry) => !/^[ ?]/.test(entry)).map((entry) => entry.slice(3));
  if (staged.length === 0) return new Set(entries.map((entry) => entry.slice(3)));
  throw new UserError(
    `git's index differs from HEAD already: commit or unstage ${named(staged)} first`,
  );
}

/** The first of these paths. */
export function named(paths: readonly string[]): string {
  return paths.slice(0, MOST_NAMED).join(", ");
}

interface FileRequest {
  project: ReviewedProject;
  file: TrackedFile;
  view: View;
  plan: CommitPlan;
  owners: Set<Change>;
  /** Whether git looks at what the disk says of modes. */
  hasModes: boolean;
}

/** Adds to the plan what HEAD lacks; a string says why the file is left out. */
function* planFile(request: FileRequest): GitWork<string | undefined> {
  const { project, file, view, plan, owners, hasModes } = request;
  const { path } = file;
  const head = yield* atHead(plan.tree, path, view.lines);
  if (typeof head === "string") return head;
  const decisions = project.decisions.map(({ id }) => id);
  const textAt = (id: string) => textOf(project, id, path);
  const kept = keptText(view.weave, head.lines, { decisions, textAt });
  if (typeof kept === "string") return kept;
  const { lines } = kept;
  const isSame = sameLines(lines, head.lines);
  const modes = file.marks.filter(({ kind }) => kind === "mode" && hasModes);
  const isLink = file.symlink || head.mode === LINK;
  const mode =
    isSame && isLink ? head.mode : modeOf(file, (hasModes && view.mode) || 0, head, modes);
  if (isSame && (mode === head.mode || lines.length === 0)) return undefined;
  const isOfOneKind = head.lines.length === 0 || (head.mode === LINK) === (mode === LINK);
  const isGone = lines.length === 0;
  if (!isGone && !isOfOneKind && !sameLines(lines, view.lines)) {
    return "is a symlink in one of its two versions";
  }
  const blob = isSame || isGone ? head.blob : yield* blobFor(request, lines, head, mode === LINK);
  if (blob === undefined) return "cannot be put together to the byte: commit it with git";
  plan.entries.set(path, `${isGone ? 0 : mode} ${blob}`);
  plan.hunks += isSame ? 1 : compare(head.lines, lines).length;
  for (const owner of isSame ? modes.map(({ by }) => by) : kept.owners) owners.add(owner);
  return undefined;
}

/** What a decision was about. */
function textOf(project: ReviewedProject, id: string, path: string): Lines | undefined {
  const decision = project.decision(id);
  const file = decision?.type === "keep" && decision.files.find((one) => one.path === path);
  return file ? project.contents.lines(file.text) : undefined;
}

/** Does the buffer hold lines that the user has kept, and the disk does not? */
function isUnsaved(view: View, inBuffer: View | undefined): boolean {
  const onDisk = new Set(view.weave.rows.filter(({ present }) => present).map(({ id }) => id));
  const rows = inBuffer?.weave.rows.filter(({ inserted: { by, keep } }) => isClaude(by) && keep);
  return rows?.some(({ present, id }) => present && !onDisk.has(id)) ?? false;
}

/** The mode that the user has kept, if the file still has it. */
function modeOf(file: TrackedFile, mode: number, head: AtHead, modes: readonly FileMark[]): string {
  if (file.symlink) return LINK;
  const open = modes.filter(({ undo }) => undo === undefined);
  const kept = open.findLast(({ keep }) => keep !== undefined)?.mode?.[1] ?? 0;
  const now = open.find(({ keep }) => keep === undefined)?.mode?.[0] || mode || kept;
  if (head.lines.length === 0 || head.mode === LINK) return executable(now);
  return kept !== 0 && executable(kept) === executable(now) ? executable(kept) : head.mode;
}

function executable(mode: number): string {
  return mode & 0o100 ? "100755" : "100644";
}

function* atHead(tree: string, path: string, onDisk: Lines): GitWork<AtHead | string> {
  const args = ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", tree, "--", path];
  const [, mode, type, blob] = /^(\d+) (\w+) (\w+)\t/.exec(yield* git(args)) ?? [];
  if (!mode || !blob) return { mode: "", blob: "", lines: [], bytes: new Uint8Array() };
  if (type !== "blob") return "is a folder or a submodule at HEAD";
  const how = mode === LINK ? ["blob", blob] : ["--filters", `--path=${path}`, blob];
  const bytes = yield { args: ["cat-file", ...how], ms: MOST_MS };
  if (bytes.code !== 0) return `has a filter that failed: ${saidBy(bytes)}`;
  const found = { mode, blob, lines: asLines(bytes.stdout), bytes: bytes.stdout };
  const lines = withEnds(found.lines, onDisk);
  if (!isText(lines) || sameLines(lines, found.lines)) return found;
  const again = bytesOf(lines);
  return (yield* hashed(path, again, [])) === blob ? { ...found, lines, bytes: again } : found;
}

/** With core.autocrlf a file may have either line ends, those that it was written with. */
function withEnds(lines: Lines, onDisk: Lines): Lines {
  const ends = new Set(onDisk.flatMap((line) => /\r?\n$/.exec(line)?.[0] ?? []));
  const [end] = ends;
  if (ends.size !== 1 || end === undefined) return lines;
  return lines.map((line) => line.replace(/\r?\n$/, end));
}

/** The blob of a text, by git's own conversions where they leave what is committed as it is. */
function* blobFor(
  { project, file: { path } }: FileRequest,
  lines: Lines,
  head: AtHead,
  isLink: boolean,
): GitWork<string | undefined> {
  const bytes = project.contents.bytes(lines);
  if (!bytes) return undefined;
  if (isLink) return yield* hashed(undefined, bytes, ["-w"]);
  const isExact = !head.blob || (yield* hashed(path, head.bytes, [])) === head.blob;
  if (isExact || head.mode === LINK) return yield* hashed(path, bytes, ["-w"]);
  // CRLF that was committed: git leaves such a file alone.
  const isRaw = (yield* hashed(undefined, head.bytes, [])) === head.blob;
  return isRaw ? yield* hashed(undefined, bytes, ["-w"]) : undefined;
}

function* hashed(
  path: string | undefined,
  input: Uint8Array,
  more: readonly string[],
): GitWork<string | undefined> {
  const how = path === undefined ? "--no-filters" : `--path=${path}`;
  const args = ["hash-object", ...more, "--stdin", how];
  const { code, stdout } = yield { args, input, ms: MOST_MS };
  return code === 0 ? stdout.toString().trim() : undefined;
}

/** What a command says. Throws UserError where it fails. */
export function* git(args: readonly string[], options: GitOptions = {}): GitWork<string> {
  const result = yield { args, ms: MOST_MS, ...options };
  if (result.code === 0) return result.stdout.toString();
  throw new UserError(`git ${args[0]} failed: ${saidBy(result)}`);
}

/** What git, or one of its hooks and filters, has said last. */
export function saidBy({ code, stderr }: GitResult): string {
  return stderr.toString().trim().split("\n").slice(-MOST_NAMED).join("\n") || `exit ${code}`;
}
