import { type CommittedFile, committedFiles } from "../git/committed";
import { gitFolder, headCommit } from "../git/head";
import { Git } from "../git/run";
import { pathsBetween } from "../git/status";
import type { RecordOf } from "../journal/record";
import { compare } from "../weave/compare";
import { FILE, type Lines, sameLines } from "../weave/lines";
import { ALL, inBase } from "../weave/row";
import { asLines, hashOfLines } from "./contents";
import { type Entry, entryOf } from "./entry";
import type { Project, View } from "./project";

type KeptFile = RecordOf<"keep">["files"][number];

/**
 * What the user commits or stages counts as kept: of Claude's changes those that stand in the new
 * commit, or index. What Claude commits in a call of its own does not.
 */
export class Commits {
  readonly #project: Project;
  /** The index' blobs of files with something to review, as they were last seen. */
  #staged = new Map<string, string>();

  constructor(project: Project) {
    this.#project = project;
  }

  /** The files by whose change something may have been committed or staged. */
  get watched(): string[] {
    const folder = gitFolder(this.#project.root);
    if (folder === undefined) return [];
    return ["HEAD", "index", "logs/HEAD"].map((name) => `${folder}/${name}`);
  }

  /** Keeps what was committed or staged since; `entries` is all that waits for the user. */
  check(entries: readonly Entry[]): boolean {
    const { root, sessions } = this.#project;
    if (gitFolder(root) === undefined || sessions.isInCall()) return false;
    const git = Git.in(root);
    if (!git) return false;
    const isCommitted = this.#checkHead(git, entries);
    return this.#checkIndex(git, entries) || isCommitted;
  }

  #checkHead(git: Git, entries: readonly Entry[]): boolean {
    const project = this.#project;
    const head = headCommit(project.root);
    const { from } = project.heads;
    const to = head === project.heads.last ? project.heads.unsettled : head;
    if (to === undefined || to === from) return false;
    const changed = from === undefined ? undefined : new Set(pathsBetween(git, from, to));
    const some = entries.filter(({ file }) => changed?.has(file.path) ?? true);
    const paths = some.map(({ file }) => file.path);
    const committed = committedFiles(git, to, paths);
    const before = from === undefined ? new Map() : committedFiles(git, from, paths);
    if (!committed || !before) return false;
    const files = some.flatMap((entry) => {
      const { path } = entry.file;
      return keptBy(project, entry, linesIn(before, path), linesIn(committed, path));
    });
    if (entries.length > 0) project.append({ type: "keep", why: "commit", head: to, files });
    else project.heads.settle(to);
    return files.length > 0;
  }

  #checkIndex(git: Git, entries: readonly Entry[]): boolean {
    const project = this.#project;
    const before = this.#staged;
    this.#staged = stagedBlobs(git, entries);
    const files = [...this.#staged].flatMap(([path, blob]) => {
      const known = before.get(path);
      if (known === undefined || known === blob || project.sessions.wasInCall()) return [];
      const file = project.files.get(path);
      const entry = file && entryOf(project, file, ALL);
      if (!entry) return [];
      return keptBy(project, entry, linesOf(git, path, known), linesOf(git, path, blob));
    });
    if (files.length > 0) project.append({ type: "keep", why: "commit", files });
    return files.length > 0;
  }
}

function stagedBlobs(git: Git, entries: readonly Entry[]): Map<string, string> {
  const paths = entries.map(({ file }) => file.path);
  const staged = new Map<string, string>();
  if (paths.length === 0) return staged;
  const args = ["--literal-pathspecs", "ls-files", "--stage", "-z", "--full-name", "--", ...paths];
  const { stdout } = git.run(args);
  for (const line of stdout.toString().split("\0")) {
    const [, blob, path] = /^\d+ (\w+) 0\t(.*)$/s.exec(line) ?? [];
    if (blob !== undefined && path !== undefined) staged.set(path, blob);
  }
  return staged;
}

/** Undefined for what a filter driver makes. */
function linesIn(files: ReadonlyMap<string, CommittedFile>, path: string): Lines | undefined {
  const file = files.get(path);
  return file ? file.bytes && asLines(file.bytes) : [];
}

function linesOf(git: Git, path: string, blob: string): Lines | undefined {
  const { code, stdout } = git.run(["cat-file", "--filters", `--path=${path}`, blob]);
  return code === 0 ? asLines(stdout) : undefined;
}

function keptBy(
  project: Project,
  { file, view, kind }: Entry,
  before: Lines | undefined,
  after: Lines | undefined,
): KeptFile[] {
  if (!view || !before || !after) return [];
  const isWhole = sameLines(after, view.lines);
  const what = isWhole ? "all" : committedPart(view, before, after, kind === "created");
  if (!what) return [];
  const base = hashOfLines(view.weave.base(ALL));
  return [{ path: file.path, text: project.contents.put(view.lines), base, keep: what }];
}

/**
 * Of what is pending the rows that a commit brought: insertions that stand in its text and not in the
 * one before, deletions the other way round. A row that was never committed, and that Claude deleted,
 * is in neither: that it is gone is not the user's decision. Undefined if there are none.
 */
function committedPart(
  { weave, lines }: View,
  before: Lines,
  after: Lines,
  isCreated: boolean,
): Exclude<KeptFile["keep"], "all"> | undefined {
  const base = weave.base(ALL);
  const [newIsIn, newWasIn] = [common(lines, after), common(lines, before)];
  const [oldIsIn, oldWasIn] = [common(base, after), common(base, before)];
  const [old, now]: [number[], number[]] = [[], []];
  let [oldRow, newRow] = [0, 0];
  for (const row of weave.rows) {
    if (row.line === FILE) continue;
    const isOld = inBase(row, ALL);
    if (isOld) oldRow++;
    if (row.present) newRow++;
    if (isOld === row.present) continue;
    if (row.present && newIsIn.has(newRow) && !newWasIn.has(newRow)) now.push(newRow);
    if (isOld && oldWasIn.has(oldRow) && !oldIsIn.has(oldRow)) old.push(oldRow);
  }
  const file = isCreated && after.length > 0 && before.length === 0;
  if (old.length + now.length === 0 && !file) return undefined;
  return { old: ranges(old), new: ranges(now), ...(file && { file }) };
}

/** The rows (from 1) of a text that another one has, too. */
function common(text: Lines, other: Lines): Set<number> {
  const rows = new Set<number>();
  let row = 0;
  for (const { oldStart, oldEnd } of [...compare(text, other), END]) {
    for (; row < Math.min(oldStart, text.length); row++) if (text[row] !== FILE) rows.add(row);
    row = oldEnd;
  }
  return rows;
}

const END = { oldStart: Number.POSITIVE_INFINITY, oldEnd: Number.POSITIVE_INFINITY };

/** Rows next to each other in one range. */
function ranges(rows: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  for (const row of rows) {
    const last = found.at(-1);
    if (last && last[0] + last[1] === row) last[1]++;
    else found.push([row, 1]);
  }
  return found;
}
