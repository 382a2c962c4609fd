import { lstatSync } from "node:fs";
import { attempt } from "../../lib/errors";
import { own } from "../../lib/json";
import { dirname, join } from "../../lib/platform";
import { readRegular } from "../../lib/read-regular";
import { type CommittedFile, committedFiles } from "../git/committed";
import { pathsBetween, touchedPaths } from "../git/differing";
import { Git } from "../git/run";
import { sameContent } from "../journal/blobs";
import { JournalReader } from "../journal/read";
import type { Content, FileChange, JournalRecord, NewRecord, RecordOf } from "../journal/record";
import { endInterrupted, Sessions } from "../state/sessions";
import { type CallSpan, CUT_OFF_MS, lastSpan, spansOf } from "../state/spans";
import { withRenames } from "./bash-changes";
import { cameAt } from "./file-state";
import { contentsAfter } from "./known";
import type { RecordedProject } from "./recorded-project";
import {
  dropIndexCopies,
  indexCopy,
  readSnapshot,
  type SeenFile,
  type Snapshot,
  type SnapshotFile,
  snapshotFile,
  takeSnapshot,
  writeSnapshot,
} from "./snapshot";

/** We start git for each file that we read from a commit. */
const MAX_COMMITTED = 2_000;
/** If a file changed this recently, the hook of the call that changed it may not have recorded it yet. */
const UNDECIDED_MS = 2_000;
const UNKNOWN: SeenFile = { content: { withheld: "unknown" }, stamp: "", mode: 0 };
const INCOMPLETE = "Too many files changed at once, so not all of their earlier texts are known.";

/** The files that a comparison found, for the report to the editor. */
export interface Found {
  session: string;
  prompt?: string | undefined;
  /** Relative to the root. */
  paths: string[];
}

/**
 * Compares the work tree with the last snapshot, and records the changes of Claude's calls that no record explains:
 * those of commands that failed, were interrupted or ran in the background, of MCP tools, of hooks that format
 * Claude's files, and those that the CLI left out. A change belongs to the call that ran at its time (ctime, which
 * programs cannot set), unless Neovim wrote that text. All other changes are the user's, and we do not record them.
 *
 * Without git, it compares only files that Claude edited. Throws the system's error (ENOSPC, …).
 */
export function compareWorkTree(project: RecordedProject): Found[] {
  const { folder } = project;
  const last = readSnapshot(folder);
  const journal = new JournalReader(folder);
  const before = journal.read().records;
  const append = (record: NewRecord) => project.append(record);
  endInterrupted({ sessions: Sessions.of(before), append });
  dropIndexCopies(folder, last);
  const now = takeSnapshot(project, last, [...lastContents(before).keys()]);
  // A call that began while we read the work tree may have changed the files that we read.
  const more = journal.read();
  const records = more.restarted ? more.records : [...before, ...more.records];
  if (!now || now.unknown > 0) recordIncomplete(project, records, now);
  if (!now) return [];
  const found = last ? recordUnexplained(project, records, last, now) : [];
  writeSnapshot(folder, now);
  return found;
}

/** Marks files in `now` as undecided if the next comparison must look at their changes again. */
function recordUnexplained(
  project: RecordedProject,
  records: readonly JournalRecord[],
  last: Snapshot,
  now: Snapshot,
): Found[] {
  const spans = spansOf(records);
  const known = lastContents(records);
  const byCall = new Map<CallSpan, FileChange[]>();
  const undecidedSince = Math.max(now.at - UNDECIDED_MS, turnStart(records));
  let unknown = 0;
  if (spans.length === 0) return [];
  for (const { path, before, after } of differences(project, last, now, spans, known)) {
    const at = before.at ?? last.at;
    const changed = changedAt(project.root, path, after);
    const isMoved = "absent" in before.content && changed < at;
    const time = isMoved ? cameAt(project.root, path) : changed;
    const span = spanOf(spans, path, after.content, { at, until: time });
    // A later call may have deleted the file, and its hook may not have recorded its beginning yet.
    const mayBeAnother = !span || time > span.to;
    const isOpen = span?.isOpen || (mayBeAnother && time > undecidedSince);
    if (isOpen) now.files[path] = { ...after, undecided: { ...before, at, until: time } };
    if (!span || isOpen) continue;
    if (before === UNKNOWN) unknown += 1;
    const change = fileChange(path, before, after);
    byCall.set(span, [...(byCall.get(span) ?? []), change]);
  }
  for (const [path, span] of stagedAlone(spans, last, now)) {
    const content = own(now.files, path)?.content ?? UNKNOWN.content;
    const change = { path, before: content, after: content, staged: true };
    byCall.set(span, [...(byCall.get(span) ?? []), change]);
  }
  for (const [{ call }, index] of intoIndexes(records, spans, last, now)) {
    project.appendFound(call, { index });
  }
  return [...byCall].map(([{ call }, files]) => {
    const incomplete = unknown > 0 ? INCOMPLETE : undefined;
    project.appendFound(call, { files: withRenames(files), incomplete, head: project.head() });
    return { session: call.session, prompt: call.prompt, paths: files.map(({ path }) => path) };
  });
}

/** Finds entries that a call put only into git's index. Leaves those of a running call to the next comparison. */
function* stagedAlone(
  spans: readonly CallSpan[],
  last: Snapshot,
  now: Snapshot,
): Generator<[string, CallSpan]> {
  const span = spans.findLast(({ from, to, paths }) => !paths && from <= now.at && to >= last.at);
  const before = last.staged ?? {};
  for (const [path, blob] of Object.entries(now.staged ?? {})) {
    if (!span || own(before, path) === blob) continue;
    if (span.isOpen) now.staged = before;
    else yield [path, span];
  }
}

/** Finds the entries that calls put into git's indexes. Entries that the user staged earlier remain the user's. */
function* intoIndexes(
  records: readonly JournalRecord[],
  spans: readonly CallSpan[],
  last: Snapshot,
  now: Snapshot,
): Generator<[CallSpan, Record<string, string>]> {
  const changes = records.filter(({ type }) => type === "change") as RecordOf<"change">[];
  const claudes = new Map(changes.flatMap(({ index = {} }) => Object.entries(index)));
  for (const [folder, index] of Object.entries(now.indexes ?? {})) {
    const before = last.indexes && (own(last.indexes, folder)?.entries ?? {});
    const span = spans.findLast(
      ({ from, to, paths }) => !paths && from <= index.at && to >= index.at,
    );
    if (!before || !span) continue;
    const entries = Object.entries(index.entries).flatMap(([name, entry]): [string, string][] => {
      const path = folder === "" ? name : `${folder}/${name}`;
      const was = own(before, name);
      return was === undefined || (was !== entry && was === claudes.get(path))
        ? [[path, entry]]
        : [];
    });
    if (span.isOpen && now.indexes) now.indexes[folder] = { at: index.at, entries: before };
    else if (entries.length > 0) yield [span, Object.fromEntries(entries)];
  }
}

/** Records that the comparison is incomplete: once per turn, and only if commands ran in the turn. */
function recordIncomplete(
  project: RecordedProject,
  records: readonly JournalRecord[],
  now: Snapshot | undefined,
): void {
  const turn = records.findLast((one) => one.type === "prompt");
  const call = records.findLast((one) => one.type === "begin" || one.type === "change");
  if (!turn || !call || call.at < turn.at || call.session !== turn.session) return;
  const id = `${turn.id}/incomplete`;
  if (records.some((one) => one.id === id)) return;
  const { unknown = 0, missing = [] } = now ?? {};
  const names =
    missing.length > 0 ? ` (${missing.join(", ")}${unknown > missing.length ? ", …" : ""})` : "";
  const incomplete =
    now === undefined
      ? "The work tree could not be compared (does `git status` work here?), so changes by commands may be missing."
      : `${unknown} files or inner repositories could not be read, or have names that are not UTF-8${names}: their changes are missing.`;
  project.appendFound(call, { id, incomplete });
}

/** When the running turn began, in ms since the epoch; Infinity if no turn runs. Earlier changes are the user's. */
function turnStart(records: readonly JournalRecord[]): number {
  const started = new Map<string, number>();
  for (const one of records) {
    if (one.type === "prompt") started.set(one.session, one.at + CUT_OFF_MS);
    if (one.type === "stop" || one.type === "end") started.delete(one.session);
  }
  return Math.min(Number.POSITIVE_INFINITY, ...started.values());
}

/** The last content of a file in the journal. */
interface Known {
  content: Content;
  at: number;
}

function lastContents(records: readonly JournalRecord[]): Map<string, Known> {
  const contents = new Map<string, Known>();
  for (const record of records) {
    const { at } = record;
    for (const { path, content } of contentsAfter(record)) contents.set(path, { content, at });
  }
  return contents;
}

/** The state of a file before its undecided change, if a call explains that change now. */
function decided(
  path: string,
  file: SnapshotFile | undefined,
  spans: readonly CallSpan[],
): SeenFile | undefined {
  const { undecided } = file ?? {};
  return undecided && spanOf(spans, path, file?.content, undecided) ? undecided : file;
}

/** The call that may have written this content at the time `until`, or deleted the file between both times. */
function spanOf(
  spans: readonly CallSpan[],
  path: string,
  content: Content | undefined,
  { at = 0, until = 0 }: Pick<SeenFile, "at" | "until">,
): CallSpan | undefined {
  const isGone = content !== undefined && "absent" in content;
  return lastSpan(spans, path, isGone ? { since: at, until } : { until });
}

/** The newer state of a file: the one that the journal has, or the one seen at `seenAt`. */
function newest(seen: SeenFile, known: Known | undefined, seenAt: number): SeenFile {
  // We compare withheld contents by their stamps, which the journal does not have.
  if (!known || "withheld" in known.content || known.at <= (seen.at ?? seenAt)) return seen;
  const { content, at } = known;
  return { stamp: "", mode: seen.mode, content, at };
}

function* differences(
  project: RecordedProject,
  last: Snapshot,
  now: Snapshot,
  spans: readonly CallSpan[],
  known: ReadonlyMap<string, Known>,
) {
  const paths = new Set([...Object.keys(last.files), ...Object.keys(now.files)]);
  // Neither snapshot contains a file that was created and deleted between them.
  for (const [path, { at }] of known) if (at > last.at) paths.add(path);
  const repositories = repositoriesOf(project, last, now);
  for (const { folder, git, head, headNow } of repositories) {
    if (!git || !head || !headNow) continue;
    const between = head === headNow ? [] : git.wait(pathsBetween(head, headNow));
    // The line ends of a file may have changed although it was clean both times.
    const copies = [last, now].map(({ at }) => indexCopy(project.folder, at, folder));
    const [copy = "", copyNow = ""] = copies;
    const isSameIndex = attempt(() => readRegular(copy).equals(readRegular(copyNow)));
    const touched = isSameIndex ? [] : git.wait(touchedPaths(join(project.root, folder), copy));
    for (const path of [...(between ?? []), ...touched]) paths.add(join(folder, path));
  }
  const clean = [...paths].filter((path) => !own(last.files, path));
  // Without git, comparison of a file starts when Claude first edits it.
  const committed: ReadonlyMap<string, SnapshotFile> = project.git
    ? committedIn(project, repositories, clean, last.at)
    : new Map([...known].map(([path, { content }]) => [path, { content, stamp: "", mode: 0 }]));
  for (const path of paths) {
    const file = own(last.files, path) ?? committed.get(path);
    const before = newest(decided(path, file, spans) ?? UNKNOWN, known.get(path), last.at);
    const after = own(now.files, path) ?? snapshotFile(project, path, last);
    if (!after || isSame(before, after)) continue;
    yield { path, before, after };
  }
}

/**
 * The project's repository and those inside it, with their folders relative to the root. HEAD in a snapshot is undefined
 * if the repository did not exist, and null if it had no commit.
 */
function repositoriesOf(project: RecordedProject, last: Snapshot, now: Snapshot) {
  const folders = new Set([...Object.keys(last.nested ?? {}), ...Object.keys(now.nested ?? {})]);
  const nested = [...folders].map((folder) => ({
    folder,
    git: Git.in(join(project.root, folder)),
    head: last.nested?.[folder],
    headNow: now.nested?.[folder],
  }));
  return [{ folder: "", git: project.git, head: last.head, headNow: now.head }, ...nested];
}

/** Reads files that were clean at the time `at`, from the commit of the innermost repository around each. */
function committedIn(
  { blobs, root, privacy, folder: reviewFolder }: RecordedProject,
  repositories: ReturnType<typeof repositoriesOf>,
  paths: readonly string[],
  at: number,
): ReadonlyMap<string, SnapshotFile> {
  const found = new Map<string, SnapshotFile>();
  let left = paths;
  for (const { folder, git, head } of repositories.toSorted(
    (a, b) => b.folder.length - a.folder.length,
  )) {
    const prefix = folder === "" ? "" : `${folder}/`;
    const inside = left.filter((path) => path.startsWith(prefix));
    left = left.filter((path) => !path.startsWith(prefix));
    if (head === undefined || inside.length === 0) continue;
    const some = head === null ? inside : inside.slice(0, MAX_COMMITTED);
    const inner = (path: string) => path.slice(prefix.length);
    const index = indexCopy(reviewFolder, at, folder);
    const files =
      head === null ? new Map() : git?.wait(committedFiles(head, some.map(inner), index));
    for (const path of files ? some : []) {
      const file: CommittedFile | undefined = files?.get(inner(path));
      const { bytes, mode = 0, symlink = false } = file ?? {};
      if (!file) found.set(path, { content: { absent: true }, stamp: "", mode });
      else if (privacy.isPrivate(join(root, path)))
        found.set(path, { content: { withheld: "private" }, stamp: "committed", mode });
      else {
        const content: Content = bytes ? blobs.put(bytes) : { withheld: "unknown" };
        found.set(path, { content, stamp: "", mode, symlink });
      }
    }
  }
  return found;
}

/** Compares private and large files by their stamps. */
function isSame(a: SnapshotFile, b: SnapshotFile): boolean {
  const isWithheld = "withheld" in a.content && "withheld" in b.content;
  const same = sameContent(a.content, b.content) || (isWithheld && a.stamp === b.stamp);
  return same && (a.mode === 0 || b.mode === 0 || isExecutable(a) === isExecutable(b));
}

/** git records no other permission. */
function isExecutable(file: SnapshotFile): boolean {
  return (file.mode & 0o100) !== 0;
}

function fileChange(path: string, before: SnapshotFile, after: SnapshotFile): FileChange {
  const isDeleted = "absent" in after.content && !("withheld" in before.content);
  const hasMode =
    before.mode !== 0 &&
    (isDeleted || (after.mode !== 0 && isExecutable(before) !== isExecutable(after)));
  return {
    path,
    before: before.content,
    after: after.content,
    mode: hasMode ? [before.mode, after.mode] : undefined,
    symlink: after.symlink || before.symlink,
  };
}

/** When the file last changed, or the folder of a deleted file, in ms since the epoch. */
export function changedAt(root: string, path: string, after: SnapshotFile): number {
  let existing = join(root, path);
  if ("absent" in after.content) existing = dirname(existing);
  for (; ; existing = dirname(existing)) {
    const stats = lstatSync(existing, { throwIfNoEntry: false });
    if (stats) return stats.ctimeMs;
    if (existing === root || dirname(existing) === existing) return 0;
  }
}
