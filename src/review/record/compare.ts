import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { sameContent } from "../blobs";
import { committedFiles } from "../git/committed";
import { pathsBetween } from "../git/status";
import { JournalReader } from "../journal/read";
import type { Content, FileChange, JournalRecord } from "../journal/record";
import { withRenames } from "./bash-changes";
import { contentAfter } from "./known";
import type { Project } from "./project";
import {
  readSnapshot,
  type Snapshot,
  type SnapshotFile,
  snapshotFile,
  takeSnapshot,
  writeSnapshot,
} from "./snapshot";
import { callFields } from "./tool-call";
import { type Window, windowAt, windowBefore, windowsOf } from "./windows";

/** Looking into a commit starts git for each file. */
const MOST_COMMITTED = 500;
/** The hook of a call that changed a file so lately may not have recorded it yet. */
const UNDECIDED_MS = 2_000;
const INCOMPLETE = "Too many files changed at once, so not all of their earlier texts are known.";

/** What a comparison found, for who reports it to the editor. */
export interface Found {
  session: string;
  prompt?: string | undefined;
  /** Relative to the root. */
  paths: string[];
}

/**
 * Compares the work tree with the last snapshot, and records what calls of Claude's changed in between
 * and no record explains: commands that failed, were interrupted or ran in the background, MCP tools,
 * and what the CLI left out. A change is a call's by its time (ctime, which no program can set) and by
 * nobody else's claim: not where Neovim wrote that text. What is left is the user's, and not recorded.
 *
 * Returns nothing found outside of a git work tree. Throws the system's error (ENOSPC, …).
 */
export function compareWorkTree(project: Project): Found[] {
  const { root, folder, git, blobs, privacy } = project;
  if (!git) return [];
  const last = readSnapshot(folder);
  const now = takeSnapshot(root, git, blobs, privacy, last);
  if (!now) return [];
  const found = last ? recordUnexplained(project, last, now) : [];
  writeSnapshot(folder, now);
  return found;
}

/** Puts back into `now` what is still to be compared. */
function recordUnexplained(project: Project, last: Snapshot, now: Snapshot): Found[] {
  const records = new JournalReader(project.folder).read().records;
  const windows = windowsOf(records);
  const byCall = new Map<Window, FileChange[]>();
  let unknown = 0;
  if (windows.length === 0) return [];
  const explained = lastContents(records);
  for (const { path, before, after } of differences(project, last, now)) {
    const content = explained.get(path);
    if (content && sameContent(content, after.content)) continue;
    const time = changedAt(project.root, path, after);
    const isGone = "absent" in after.content;
    const window = isGone ? windowBefore(windows, last.at, time) : windowAt(windows, time);
    if (window ? window.isOpen : time > now.at - UNDECIDED_MS) keepForNextTime(last, now, path);
    if (!window || window.isOpen) continue;
    if (before === undefined) unknown += 1;
    const change = fileChange(path, before, after);
    if (change) byCall.set(window, [...(byCall.get(window) ?? []), change]);
  }
  return [...byCall].map(([window, files]) => record(project, window, files, unknown));
}

function record(project: Project, { call }: Window, files: FileChange[], unknown: number): Found {
  const head = project.head();
  project.append({
    type: "change",
    ...callFields(call),
    source: "trees",
    files: withRenames(files),
    ...(unknown > 0 && { incomplete: INCOMPLETE }),
    ...(head !== undefined && { head }),
  });
  return { session: call.session, prompt: call.prompt, paths: files.map((file) => file.path) };
}

/** By path, what the journal says that it holds. */
function lastContents(records: readonly JournalRecord[]): Map<string, Content> {
  const contents = new Map<string, Content>();
  for (const record of records) {
    if (!("files" in record) || record.type === "keep") continue;
    for (const { path } of record.files) {
      const content = contentAfter(record, path);
      if (content) contents.set(path, content);
    }
  }
  return contents;
}

interface Difference {
  path: string;
  /** Undefined: not known. */
  before: SnapshotFile | undefined;
  after: SnapshotFile;
}

function* differences(project: Project, last: Snapshot, now: Snapshot): Generator<Difference> {
  const paths = new Set([...Object.keys(last.files), ...Object.keys(now.files)]);
  if (last.head !== now.head && last.head && now.head && project.git) {
    for (const path of pathsBetween(project.git, last.head, now.head) ?? []) paths.add(path);
  }
  const clean = [...paths].filter((path) => !Object.hasOwn(last.files, path));
  const committed = inCommit(project, last.head, clean);
  for (const path of paths) {
    const before = Object.hasOwn(last.files, path) ? last.files[path] : committed(path);
    const after = Object.hasOwn(now.files, path)
      ? now.files[path]
      : snapshotFile(project.root, path, project.blobs, project.privacy, last);
    if (!after || (before && isSame(before, after))) continue;
    yield { path, before, after };
  }
}

/** What clean files held: those of the commit. */
function inCommit(
  { git, blobs, root, privacy }: Project,
  head: string | null,
  paths: readonly string[],
): (path: string) => SnapshotFile | undefined {
  const some = paths.slice(0, MOST_COMMITTED);
  const files = git && head !== null ? committedFiles(git, head, some) : undefined;
  const absent: SnapshotFile = { content: { absent: true }, stamp: "", mode: 0 };
  return (path) => {
    if (head === null) return absent;
    if (!files || !some.includes(path)) return undefined;
    const file = files.get(path);
    if (!file) return absent;
    if (privacy.isPrivate(join(root, path))) {
      return { content: { withheld: "private" }, stamp: "committed", mode: file.mode };
    }
    return file.bytes && { content: blobs.put(file.bytes), stamp: "", mode: file.mode };
  };
}

/** Private and large files are compared by their stamps. */
function isSame(a: SnapshotFile, b: SnapshotFile): boolean {
  const isWithheld = "withheld" in a.content && "withheld" in b.content;
  const same = sameContent(a.content, b.content) || (isWithheld && a.stamp === b.stamp);
  return same && isExecutable(a) === isExecutable(b);
}

/** Of a file's mode git knows nothing else. */
function isExecutable(file: SnapshotFile): boolean {
  return (file.mode & 0o100) !== 0;
}

function fileChange(
  path: string,
  before: SnapshotFile | undefined,
  after: SnapshotFile,
): FileChange | undefined {
  const content: Content = before?.content ?? { withheld: "unknown" };
  const bothThere = before && before.mode !== 0 && after.mode !== 0;
  const hasMode = bothThere && isExecutable(before) !== isExecutable(after);
  return {
    path,
    before: content,
    after: after.content,
    ...(hasMode && { mode: [before.mode, after.mode] }),
    ...((after.symlink || before?.symlink) && { symlink: true }),
  };
}

/** When the file changed last; of one that is gone, when its folder did. In ms since the epoch. */
function changedAt(root: string, path: string, after: SnapshotFile): number {
  let place = join(root, path);
  if ("absent" in after.content) place = dirname(place);
  for (; ; place = dirname(place)) {
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats) return stats.ctimeMs;
    if (place === root || dirname(place) === place) return 0;
  }
}

/** A command still runs: the next comparison sees the whole of what it changed. */
function keepForNextTime(last: Snapshot, now: Snapshot, path: string): void {
  const before = last.files[path];
  if (before && Object.hasOwn(last.files, path)) now.files[path] = before;
  else delete now.files[path];
}
