import { join } from "node:path";
import { own } from "../../lib/json";
import { committedFiles } from "../git/committed";
import { repositoryAround } from "../git/differing";
import { Git } from "../git/run";
import { sameContent } from "../journal/blobs";
import { journalLines, parseLine } from "../journal/read";
import type { Content, JournalRecord } from "../journal/record";
import { type CallSpan, spansOf } from "../state/spans";
import { callFields, RecordedProject } from "./recorded-project";
import { indexCopy, readSnapshot, type Snapshot } from "./snapshot";
import { showsAs } from "./text";

/** Looking into a commit starts git twice, 3 ms each. */
const MAX_COMMITTED = 10;

/** The last lines of the journal: what began before them has ended, or no one knows. */
const MAX_LINES = 2_000;
/** All that begins or ends a command. */
const OF_SPANS = /"type":"(begin|stop|end|prompt)"|"source":"bash"/;

/** Knows earlier contents of files: by the journal, the last snapshot, HEAD. */
export class KnownContents {
  #lines: string[] | undefined;
  #snapshot: Snapshot | undefined | null = null;
  #spans: CallSpan[] | undefined;
  /** Permission bits in HEAD, of what was looked up. */
  readonly #modes = new Map<string, number>();
  readonly #committed = new Map<string, Content | undefined>();

  constructor(private readonly project: RecordedProject) {}

  /** The contents that a path may have had before Claude's change, the most likely first. */
  *#candidates(path: string): Generator<Content> {
    const last = this.#inJournal(path);
    const snapshot = this.#readSnapshot();
    const file = snapshot && own(snapshot.files, path);
    const isNewer = last !== undefined && (!snapshot || last.at >= snapshot.at);
    if (isNewer) yield last.content;
    if (file) yield file.content;
    if (file?.undecided) yield file.undecided.content;
    if (file && last && !isNewer) yield last.content;
    const inHead = this.#inHead(path);
    if (inHead) yield inHead;
    if (!file && last && !isNewer) yield last.content;
  }

  /** `seen`, or the one of them, that the CLI shows as this text. */
  shownAs(path: string, text: string, seen?: Content): Content | undefined {
    const isShown = (candidate: Content) => {
      const bytes = this.project.blobs.bytes(candidate);
      return bytes ? showsAs(bytes, text) : false;
    };
    return seen && isShown(seen) ? seen : this.#candidates(path).find(isShown);
  }

  /** The content at a path that the hook before the editing tool's call `use` has seen. */
  seen(path: string, use: string | undefined): Content | undefined {
    const needles = ['"type":"seen"', `"use":${JSON.stringify(use)}`, JSON.stringify(path)];
    const line = this.#readLines().findLast((one) => needles.every((part) => one.includes(part)));
    const record = line === undefined ? undefined : parseLine(line);
    return typeof record === "object" && record.type === "seen" ? record.content : undefined;
  }

  /** No one has looked at the work tree before. */
  get isBlind(): boolean {
    return this.#readSnapshot() === undefined;
  }

  /** The permission bits of a path before Claude's change, after `shownAs` or `last` looked for its text. */
  mode(path: string): number | undefined {
    const file = own(this.#readSnapshot()?.files ?? {}, path);
    return file?.mode || file?.undecided?.mode || this.#modes.get(path);
  }

  /** The command that began last of those that still run, but for the call `use`. */
  running(use: string | undefined): CallSpan | undefined {
    return this.#running().findLast(({ call }) => call.use !== use);
  }

  /** In the order in which they began. */
  #running(): CallSpan[] {
    if (this.#spans) return this.#spans;
    const lines = this.#readLines().slice(-MAX_LINES);
    const records = lines.filter((line) => OF_SPANS.test(line)).map(parseLine);
    const spans = spansOf(records.filter((record) => typeof record === "object"));
    this.#spans = spans.filter(({ to }) => to === Infinity);
    return this.#spans;
  }

  /** The most likely content of a path before the call `use`, even if it was seen changed since. */
  last(path: string, use?: string): Content | undefined {
    const span =
      use === undefined ? undefined : this.#running().find(({ call }) => call.use === use);
    const before = span && this.before(path, span);
    return before ?? this.#candidates(path).next().value ?? undefined;
  }

  /** The snapshot's content of a path before it changed in that time. */
  before(path: string, { from }: CallSpan): Content | undefined {
    const before = own(this.#readSnapshot()?.files ?? {}, path)?.undecided;
    if (!before || (before.until ?? 0) < from) return undefined;
    return (this.#inJournal(path)?.at ?? 0) <= (before.at ?? 0) ? before.content : undefined;
  }

  /** The newest record's content. A search in the text is quicker than parsing each line. */
  #inJournal(path: string): { content: Content; at: number } | undefined {
    const lines = this.#readLines();
    const needle = `"path":${JSON.stringify(path)}`;
    for (let i = lines.length - 1; i >= 0; i--) {
      const line = lines[i] ?? "";
      const record = line.includes(needle) ? parseLine(line) : "other";
      const content = typeof record === "object" ? contentAfter(record, path) : undefined;
      if (content && typeof record === "object") return { content, at: record.at };
    }
    return undefined;
  }

  #readLines(): string[] {
    this.#lines ??= journalLines(this.project.folder);
    return this.#lines;
  }

  #readSnapshot(): Snapshot | undefined {
    if (this.#snapshot === null) this.#snapshot = readSnapshot(this.project.folder);
    return this.#snapshot;
  }

  #inHead(path: string): Content | undefined {
    if (!this.#committed.has(path) && this.#committed.size < MAX_COMMITTED) {
      this.#committed.set(path, this.#committedText(path));
    }
    return this.#committed.get(path);
  }

  #committedText(path: string): Content | undefined {
    const { root, git: outer, blobs } = this.project;
    if (!outer) return undefined;
    const folder = repositoryAround(root, path);
    const git = folder === "" ? outer : Git.in(join(root, folder));
    const snapshot = this.#readSnapshot();
    const commit = folder === "" ? snapshot?.head : snapshot?.nested?.[folder];
    if (!snapshot || !commit) return undefined;
    const inner = folder === "" ? path : path.slice(folder.length + 1);
    const index = indexCopy(this.project.folder, snapshot.at, folder);
    const files = git?.wait(committedFiles(commit, [inner], index));
    if (!files) return undefined;
    const file = files.get(inner);
    if (!file) return { absent: true };
    this.#modes.set(path, file.mode);
    return file.bytes && blobs.put(file.bytes);
  }
}

export function contentAfter(record: JournalRecord, path: string): Content | undefined {
  if (record.type === "written")
    return record.files.findLast((file) => file.path === path)?.content;
  if (record.type !== "change" && record.type !== "undo") return undefined;
  const files: readonly { path: string; after: Content }[] = record.files;
  return files.findLast((file) => file.path === path)?.after;
}

/** A text that was found in a file. */
interface Found {
  path: string;
  content: Content;
}

/**
 * Records what a running command of Claude's has changed so far: the call `use`, or the user, is changing files whose
 * present text is not on record. By the rule of ./compare.ts those texts are the command's. Throws the system's error.
 */
export function recordRunning(
  project: RecordedProject,
  known: KnownContents,
  use: string | undefined,
  found: readonly Found[],
): void {
  const running = found.length > 0 ? known.running(use) : undefined;
  if (!running) return;
  const files = found.flatMap(({ path, content: after }) => {
    if ("withheld" in after) return [];
    const before = known.before(path, running) ?? known.last(path);
    return before && !sameContent(before, after) ? [{ path, before, after }] : [];
  });
  if (files.length === 0) return;
  project.append({ type: "change", ...callFields(running.call), source: "trees", files });
}

/**
 * The same for a text that Neovim has written over, and had not written itself: later it could not be
 * set apart from what the user saved with it.
 */
export function recordOverwritten(root: string, path: string, bytes: Uint8Array): void {
  const project = new RecordedProject(root);
  const known = new KnownContents(project);
  if (!known.running(undefined)) return;
  recordRunning(project, known, undefined, [{ path, content: project.blobs.put(bytes) }]);
}
