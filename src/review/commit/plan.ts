import { Failure } from "../../lib/errors";
import { dirname, join } from "../../lib/platform";
import { type Entries, headOf, rawChanges, treeOf } from "../git/committed";
import { repositoryAround } from "../git/differing";
import { type GitOptions, type GitResult, type GitWork, outputOf } from "../git/run";
import { asOnDisk } from "../state/commits";
import { asLines } from "../state/contents";
import type { ReviewedProject, View } from "../state/reviewed-project";
import type { FileMark, TrackedFile } from "../state/tracked-file";
import { compare } from "../weave/compare";
import { keptText } from "../weave/kept-text";
import { type Lines, sameLines } from "../weave/lines";
import { type Change, isClaude } from "../weave/row";

/** Node's longest timer, 24 days. A hook or a user may take any time. */
export const MAX_MS = 2 ** 31 - 1;
const LINK = "120000";
/** The maximum number of files, or of lines of a program's output, in a message. */
const MAX_NAMED = 10;

/** A commit of the changes that the user has kept in one repository. Paths are relative to the repository. */
export interface CommitPlan {
  /** Null before the first commit. */
  head: string | null;
  /** HEAD's tree; the empty tree before the first commit. */
  tree: string;
  entries: Entries;
  /** The index entries that differ from HEAD, each with HEAD's entry. */
  staged: ReturnType<typeof rawChanges>;
  /** Staged paths that are not known to be Claude's. */
  users: string[];
  hunks: number;
  /** The prompts that led to these hunks, in order. */
  prompts: string[];
  /** Sentences for the user about files that are left out or need attention. */
  notes: string[];
}

/** A file in HEAD; no lines if HEAD lacks it. */
interface AtHead {
  mode: string;
  blob: string;
  /** The lines that a checkout writes, with the line ends on disk. */
  lines: Lines;
  bytes: Uint8Array;
}

/** The files of a project by the folder of their repository, relative to the project's root; "" is the root. */
export function byRepository({ root, files }: ReviewedProject): Map<string, TrackedFile[]> {
  const around = new Map<string, string>();
  return Map.groupBy(files.values(), ({ path }) => {
    const found = around.get(dirname(path)) ?? repositoryAround(root, path);
    around.set(dirname(path), found);
    return found;
  });
}

/**
 * Plans the commit of the repository in a `folder` of the project: all kept changes that HEAD lacks. Writes blobs.
 * `texts` has the texts of buffers with unsaved changes. Throws Failure.
 */
export function* planned(
  project: ReviewedProject,
  folder: string,
  texts: ReadonlyMap<string, Uint8Array>,
): GitWork<CommitPlan> {
  const root = join(project.root, folder);
  const head = yield* headOf(root);
  const tree = head === undefined ? undefined : yield* treeOf(head);
  if (head === undefined || tree === undefined)
    throw new Failure(`git cannot read HEAD of ${root}`);
  const hasModes = (yield* outputOf("config", "--type=bool", "core.fileMode")) !== "false";
  const staged = yield* stagedSince(tree);
  const users = [...staged.keys()].filter((name) => {
    const { status, after } = staged.get(name) ?? {};
    return status === "U" || project.staged.get(join(folder, name)) !== after;
  });
  const differing = yield* differingFiles();
  const plan: CommitPlan = {
    ...{ head, tree, entries: new Map(), staged, users, hunks: 0, prompts: [], notes: [] },
  };
  const owners = new Set<Change>();
  for (const file of byRepository(project).get(folder) ?? []) {
    const { path } = file;
    const name = folder === "" ? path : path.slice(folder.length + 1);
    const text = texts.get(path);
    const isDiffering = differing.has(name);
    const view = isDiffering || text ? project.view(file) : undefined;
    const mark = isDiffering && file.marks.findLast(({ kind }) => kind === "staged");
    const stagedOnly = mark && mark.keep !== undefined && !mark.undo ? staged.get(name) : undefined;
    if (stagedOnly) plan.entries.set(name, stagedOnly.after);
    if (!view) continue;
    if (text && isUnsaved(view, project.view(file, text))) {
      plan.notes.push(`${path} has a kept change in its buffer only: write it, and commit again`);
    }
    const reason = yield* planFile({ project, file, name, view, plan, owners, hasModes });
    if (reason) plan.notes.push(`${path} is left out: it ${reason}`);
  }
  const turns = [...owners].map(
    ({ session, turn = 0 }) => project.sessions.turns(session)[turn - 1],
  );
  const inOrder = turns.filter((turn) => turn !== undefined).sort((a, b) => a.at - b.at);
  plan.prompts = [...new Set(inOrder.map(({ text }) => text))];
  const left = [...staged.keys()].filter((name) => !plan.entries.has(name));
  if (left.length > 0) {
    plan.notes.push(
      `Claude has staged ${named(left)}, but you have kept none of these changes: they stay staged`,
    );
  }
  return plan;
}

/** The paths that differ from HEAD, including untracked ones. */
function* differingFiles(): GitWork<ReadonlySet<string>> {
  const options = ["--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
  const status = yield* git(["--no-optional-locks", "status", "--porcelain", "-z", ...options]);
  return new Set(status.split("\0").map((entry) => entry.slice(3)));
}

/** Options of `git diff-index` and `git diff-tree`. */
export const RAW = ["--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none"];

/** The entries in which an index, by default the repository's, differs from a tree. */
export function* stagedSince(tree: string, options: GitOptions = {}) {
  const args = ["diff-index", "--cached", "--ita-invisible-in-index", ...RAW, tree];
  return rawChanges(yield* git(args, options));
}

export function named(paths: readonly string[]): string {
  return paths.slice(0, MAX_NAMED).join(", ");
}

interface FileRequest {
  project: ReviewedProject;
  file: TrackedFile;
  /** The file's path in its repository. */
  name: string;
  view: View;
  plan: CommitPlan;
  owners: Set<Change>;
  /** Whether git respects the modes on disk (core.fileMode). */
  hasModes: boolean;
}

/** Adds a file's kept changes to the plan. If the file must be left out, returns why. */
function* planFile(request: FileRequest): GitWork<string | undefined> {
  const { project, file, name, view, plan, owners, hasModes } = request;
  const head = yield* atHead(plan.tree, name, view.lines);
  if (typeof head === "string") return head;
  const decisions = project.decisions.map(({ id }) => id);
  const textAt = (id: string) => textOf(project, id, file.path);
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
  if (blob === undefined) return "cannot be assembled exactly: commit it with git";
  plan.entries.set(name, `${isGone ? 0 : mode} ${blob}`);
  plan.hunks += isSame ? 1 : compare(head.lines, lines).length;
  for (const owner of isSame ? modes.map(({ by }) => by) : kept.owners) owners.add(owner);
  return undefined;
}

/** The text of a file when a decision kept it. */
function textOf(project: ReviewedProject, id: string, path: string): Lines | undefined {
  const decision = project.decision(id);
  const file = decision?.type === "keep" && decision.files.find((one) => one.path === path);
  return file ? project.contents.lines(file.text) : undefined;
}

/** Whether the buffer has kept lines that the disk lacks. */
function isUnsaved(view: View, inBuffer: View | undefined): boolean {
  const onDisk = new Set(view.weave.rows.filter(({ present }) => present).map(({ id }) => id));
  const rows = inBuffer?.weave.rows.filter(({ inserted: { by, keep } }) => isClaude(by) && keep);
  return rows?.some(({ present, id }) => present && !onDisk.has(id)) ?? false;
}

/** The kept mode if the file still has it, or else HEAD's mode. A file that HEAD lacks has its mode before pending changes. */
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
  const found = yield { args: ["cat-file", ...how], ms: MAX_MS };
  if (found.code !== 0) return `has a filter that failed: ${errorOf(found)}`;
  const bytes = yield* asOnDisk(path, blob, found.stdout, onDisk);
  return { mode, blob, lines: asLines(bytes), bytes };
}

/** Writes the blob of a text, with git's conversions if they reproduce the committed blob. */
function* blobFor(
  { project, name }: FileRequest,
  lines: Lines,
  head: AtHead,
  isLink: boolean,
): GitWork<string | undefined> {
  const bytes = project.contents.bytes(lines);
  if (!bytes) return undefined;
  if (isLink) return yield* hashed(undefined, bytes, ["-w"]);
  const isExact = !head.blob || (yield* hashed(name, head.bytes, [])) === head.blob;
  if (isExact || head.mode === LINK) return yield* hashed(name, bytes, ["-w"]);
  // git does not convert a file that was committed with CRLF.
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
  const result = yield { args, input, ms: MAX_MS };
  if (result.code === 0) return result.stdout.toString().trim();
  // The disk may be full. Other errors, for example of a filter, concern only this file.
  if (/unable to (write|create)/.test(`${result.stderr}`))
    throw new Failure(`nothing is committed: ${errorOf(result)}`);
  return undefined;
}

/** Returns the output of a command. Throws Failure if it fails. */
export function* git(args: readonly string[], options: GitOptions = {}): GitWork<string> {
  const result = yield { args, ms: MAX_MS, ...options };
  if (result.code === 0) return result.stdout.toString();
  throw new Failure(`git ${args[0]} failed: ${errorOf(result)}`);
}

/** The last error output of git, or of one of its hooks and filters. */
export function errorOf({ code, stderr }: GitResult): string {
  return stderr.toString().trim().split("\n").slice(-MAX_NAMED).join("\n") || `exit ${code}`;
}
