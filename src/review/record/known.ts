import { own } from "../../lib/json";
import { join } from "../../lib/platform";
import { committedFiles } from "../git/committed";
import { repositoryAround } from "../git/differing";
import { Git } from "../git/run";
import { sameContent } from "../journal/blobs";
import { journalLines, parseLine } from "../journal/read";
import type { Content, JournalRecord } from "../journal/record";
import { type CallSpan, spansOf } from "../state/spans";
import { RecordedProject } from "./recorded-project";
import { indexCopy, readSnapshot, type Snapshot } from "./snapshot";

/** Reading a file from a commit starts git twice, at 3 ms each. */
const MAX_COMMITTED = 10;

/** We look for running commands in this many last lines of the journal. */
const MAX_LINES = 2_000;
/** Matches each record that begins or ends a command. */
const OF_SPANS = /"type":"(begin|stop|end|prompt)"|"source":"bash"/;

/** Knows earlier contents of files, from the journal, the last snapshot and HEAD. */
export class KnownContents {
  #lines: string[] | undefined;
  #snapshot: Snapshot | undefined | null = null;
  #spans: CallSpan[] | undefined;
  /** Permission bits in HEAD of the files that we looked up. */
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

  /**
   * The content, `seen` or a candidate, that the CLI shows as this text. The CLI shows each line end as "\n", and invalid
   * UTF-8 as U+FFFD (measured with 2.1.330: `originalFile` of files with CRLF, a byte order mark, UTF-16).
   */
  shownAs(path: string, text: string, seen?: Content): Content | undefined {
    const isShown = (candidate: Content) => {
      const bytes = this.project.blobs.bytes(candidate);
      return bytes ? withNewlines(decode(bytes)) === withNewlines(text) : false;
    };
    return seen && isShown(seen) ? seen : this.#candidates(path).find(isShown);
  }

  /** The content that a hook recorded just before the editing tool's call `use`. */
  seen(path: string, use: string | undefined): Content | undefined {
    const needles = ['"type":"seen"', `"use":${JSON.stringify(use)}`, JSON.stringify(path)];
    const line = this.#readLines().findLast((one) => needles.every((part) => one.includes(part)));
    const record = line === undefined ? undefined : parseLine(line);
    return typeof record === "object" && record.type === "seen" ? record.content : undefined;
  }

  /** Whether no snapshot of the work tree exists. */
  get isBlind(): boolean {
    return this.#readSnapshot() === undefined;
  }

  /** The permission bits of a path before Claude's change. Call `shownAs` or `last` first. */
  mode(path: string): number | undefined {
    const file = own(this.#readSnapshot()?.files ?? {}, path);
    return file?.mode || file?.undecided?.mode || this.#modes.get(path);
  }

  /** The running command that began last, other than the call `use`. */
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

  /** The most likely content of a path before the call `use`, or before the newest change. */
  last(path: string, use?: string): Content | undefined {
    const span =
      use === undefined ? undefined : this.#running().find(({ call }) => call.use === use);
    const before = span && this.before(path, span);
    return before ?? this.#candidates(path).next().value ?? undefined;
  }

  /** The content of a path before it changed during the span, from the snapshot. */
  before(path: string, { from }: CallSpan): Content | undefined {
    const before = own(this.#readSnapshot()?.files ?? {}, path)?.undecided;
    if (!before || (before.until ?? 0) < from) return undefined;
    return (this.#inJournal(path)?.at ?? 0) <= (before.at ?? 0) ? before.content : undefined;
  }

  /** The content in the newest record. Searching the text is faster than parsing each line. */
  #inJournal(path: string): { content: Content; at: number } | undefined {
    const lines = this.#readLines();
    const needle = `"path":${JSON.stringify(path)}`;
    for (let i = lines.length - 1; i >= 0; i--) {
      const line = lines[i] ?? "";
      const record = line.includes(needle) ? parseLine(line) : "other";
      if (typeof record !== "object") continue;
      const file = contentsAfter(record).findLast((one) => one.path === path);
      if (file) return { content: file.content, at: record.at };
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

interface Found {
  path: string;
  content: Content;
}

/** The contents of files after a record. */
export function contentsAfter(record: JournalRecord): readonly Found[] {
  if (record.type === "written") return record.files;
  if (record.type === "keep" || !("files" in record)) return [];
  return record.files.map(({ path, after }) => ({ path, content: after }));
}

/**
 * Records the changes so far of a running command. Call it when the call `use`, or the user, changes files whose
 * current texts are not recorded: by the rule of ./compare.ts the command wrote those texts. Throws the system's error.
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
  if (files.length > 0) project.appendFound(running.call, { files });
}

/**
 * Records a text that Neovim has overwritten and had not written before as the running command's. Later, the user's
 * and the command's changes could not be separated.
 */
export function recordOverwritten(root: string, path: string, bytes: Uint8Array): void {
  const project = new RecordedProject(root);
  const known = new KnownContents(project);
  if (!known.running(undefined)) return;
  recordRunning(project, known, undefined, [{ path, content: project.blobs.put(bytes) }]);
}

function isUtf16(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xfe;
}

/** Whether the CLI may have shown bytes other than the text's UTF-8 as this text. `now` is what it wrote since. */
export function isDoubtful(text: string, now: Uint8Array): boolean {
  const saysNothing = text.includes("\n") && !now.includes(0x0a);
  return saysNothing || text.includes("\uFFFD") || now.includes(0x0d) || isUtf16(now);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder(isUtf16(bytes) ? "utf-16le" : "utf-8", { ignoreBOM: true }).decode(bytes);
}

function withNewlines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
