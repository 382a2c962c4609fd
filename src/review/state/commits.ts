import { gitFolder } from "../../lib/git-folder";
import { committedFiles, type Entries, headOf, stagedAt } from "../git/committed";
import { pathsBetween } from "../git/differing";
import { Git, type GitWork } from "../git/run";
import type { RecordOf } from "../journal/record";
import { compare } from "../weave/compare";
import { bytesOf, FILE, isText, type Lines, sameLines } from "../weave/lines";
import { ALL, inBase } from "../weave/row";
import { asLines, hashOfLines } from "./contents";
import { type Entry, entryOf } from "./entry";
import type { ReviewedProject, View } from "./reviewed-project";

/** A decision changes git's index within this time after its record. */
const DECISION_MS = 2_000;
/** git may run a filter here, since it may run with the user's settings. */
const HASH_MS = 60_000;

type KeptFile = RecordOf<"keep">["files"][number];

/**
 * Keeps Claude's changes that the user commits or stages. If one of Claude's calls ran at the time of a commit, we cannot
 * know who made it, so its changes still wait. The same applies to calls in the background and to interrupted calls.
 */
export class Commits {
  /** The index entries of files to review, at the last check. */
  #staged: Entries = new Map();
  /** When the last check began, in ms since the epoch. */
  #lookedAt = 0;
  #isChecking = false;

  constructor(private readonly project: ReviewedProject) {}

  /** The files that change with each commit and each change of the index. */
  get watched(): string[] {
    const folder = gitFolder(this.project.root);
    if (folder === undefined) return [];
    return ["HEAD", "index", "logs/HEAD"].map((name) => `${folder}/${name}`);
  }

  /** A hook may record a call late, after we took the call's commit for the user's. Takes back such decisions. */
  takeBackClaudes(): void {
    const { decisions, sessions } = this.project;
    for (const { id, at, ...one } of decisions) {
      const isInDoubt = one.type === "keep" && one.why === "commit" && sessions.ranAt(at);
      if (isInDoubt) this.project.append({ type: "back", decision: id });
    }
  }

  /**
   * Keeps changes that were committed or staged since the last check. `entries` are all that wait for the user. If the
   * user decides while git runs, this leaves them to the next check.
   */
  async check(entries: readonly Entry[]): Promise<void> {
    const { root, sessions, version } = this.project;
    if (this.#isChecking || gitFolder(root) === undefined || sessions.isInCall()) return;
    const git = Git.in(root);
    if (!git) return;
    this.#isChecking = true;
    const now = Date.now();
    try {
      const { committed, staged } = await git.run(this.#look(entries));
      this.project.refresh();
      if (this.project.version !== version) return;
      this.#staged = staged.entries;
      this.#lookedAt = now;
      if (committed && entries.length > 0) this.#keep(committed.changed, committed.to);
      else if (committed) this.project.heads.settle(committed.to);
      this.#keep(staged.changed);
    } finally {
      this.#isChecking = false;
    }
  }

  *#look(entries: readonly Entry[]) {
    const committed = yield* this.#lookAtHead(entries);
    return { committed, staged: yield* this.#lookAtIndex(entries) };
  }

  *#lookAtHead(entries: readonly Entry[]): GitWork<{ to: string; changed: Changed[] } | undefined> {
    const { root, heads, sessions } = this.project;
    const head = (yield* headOf(root)) ?? undefined;
    const { from, unsettled } = heads;
    const to = head === heads.last ? unsettled?.head : head;
    if (to === undefined || to === from) return undefined;
    const [since, until] = to === unsettled?.head ? [unsettled.from, unsettled.until] : [heads.at];
    if (sessions.wasInCall(Math.max(since, this.#lookedAt), until)) return { to, changed: [] };
    const paths = from === undefined ? undefined : new Set(yield* pathsBetween(from, to));
    const some = entries.filter(({ file }) => paths?.has(file.path) ?? true);
    const after = yield* linesIn(to, some);
    const before = from === undefined ? new Map() : yield* linesIn(from, some);
    const changed = some.map(({ file: { path } }) => {
      return { path, before: before?.get(path), after: after?.get(path) };
    });
    return after && before && { to, changed };
  }

  *#lookAtIndex(entries: readonly Entry[]): GitWork<{ entries: Entries; changed: Changed[] }> {
    const staged = (yield* stagedAt(entries.map(({ file }) => file.path))) ?? new Map();
    const changed: Changed[] = [];
    const { sessions, indexChanged } = this.project;
    const isOurs = indexChanged + DECISION_MS >= this.#lookedAt;
    const isInDoubt = isOurs || sessions.wasInCall(this.#lookedAt);
    for (const [path, entry] of staged) {
      const known = this.#staged.get(path);
      if (!known || !entry || blobOf(known) === blobOf(entry) || isInDoubt) continue;
      const { view } = entries.find(({ file }) => file.path === path) ?? {};
      const before = yield* textOf(path, known, view?.lines);
      changed.push({ path, before, after: yield* textOf(path, entry, view?.lines) });
    }
    return { entries: staged, changed };
  }

  /** Also records a commit that keeps no changes, for `head`. */
  #keep(changed: readonly Changed[], head?: string): void {
    const files = changed.flatMap((one) => keptBy(this.project, one));
    if (head !== undefined || files.length > 0) {
      this.project.append({ type: "keep", why: "commit", head, files });
    }
  }
}

/** A file that was committed or staged. Undefined lines come from a filter driver. */
interface Changed {
  path: string;
  before: Lines | undefined;
  after: Lines | undefined;
}

function* linesIn(
  commit: string,
  entries: readonly Entry[],
): GitWork<ReadonlyMap<string, Lines | undefined> | undefined> {
  const files = yield* committedFiles(
    commit,
    entries.map(({ file }) => file.path),
  );
  const all = new Map<string, Lines | undefined>();
  for (const entry of entries) {
    const { path } = entry.file;
    const { blob = "", bytes } = files?.get(path) ?? {};
    const lines = bytes && asLines(yield* asOnDisk(path, blob, bytes, entry.view?.lines));
    all.set(path, files?.has(path) ? lines : []);
  }
  return files && all;
}

/** A blob's bytes as a checkout writes them, or with the line ends on disk, if git makes the same blob of them. */
export function* asOnDisk(
  path: string,
  blob: string,
  bytes: Uint8Array,
  onDisk: Lines = [],
): GitWork<Uint8Array> {
  const ends = new Set(onDisk.flatMap((line) => /\r?\n$/.exec(line)?.[0] ?? []));
  const [end] = ends;
  const lines = asLines(bytes);
  if (ends.size !== 1 || end === undefined || !isText(lines)) return bytes;
  const again = lines.map((line) => line.replace(/\r?\n$/, end));
  if (sameLines(again, lines)) return bytes;
  const input = bytesOf(again);
  const args = ["hash-object", "--stdin", `--path=${path}`];
  const { code, stdout } = yield { args, input, ms: HASH_MS };
  return code === 0 && stdout.toString().trim() === blob ? input : bytes;
}

/** Reads the text of an index entry, `asOnDisk`; no lines for a missing file, whose blob is all zeros. */
export function* textOf(path: string, entry: string, onDisk?: Lines): GitWork<Lines | undefined> {
  const blob = blobOf(entry);
  if (/^0+$/.test(blob)) return [];
  const { code, stdout } = yield { args: ["cat-file", "--filters", `--path=${path}`, blob] };
  return code === 0 ? asLines(yield* asOnDisk(path, blob, stdout, onDisk)) : undefined;
}

function blobOf(entry: string): string {
  return entry.slice(entry.indexOf(" ") + 1);
}

function keptBy(project: ReviewedProject, { path, before, after }: Changed): KeptFile[] {
  const file = project.files.get(path);
  const { view, kind } = (file && entryOf(project, file, ALL)) ?? {};
  if (!view || !before || !after) return [];
  const isWhole = sameLines(after, view.lines);
  const what = isWhole ? "all" : committedPart(view, before, after, kind === "created");
  if (!what) return [];
  const base = hashOfLines(view.weave.base(ALL));
  return [{ path, text: project.contents.put(view.lines), base, keep: what }];
}

/**
 * The pending rows that a commit includes: insertions that its text has and the text before does not, and deletions the
 * other way round. Claude's deletion of a row that was never committed is not included, because neither text has the row.
 * Undefined if no rows are left.
 */
export function committedPart(
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

/** The rows (from 1) that a text shares with another. */
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

/** Joins adjacent rows into ranges. */
function ranges(rows: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  for (const row of rows) {
    const last = found.at(-1);
    if (last && last[0] + last[1] === row) last[1]++;
    else found.push([row, 1]);
  }
  return found;
}
