import { Failure } from "../../lib/errors";
import { waitForLock } from "../../lib/lock";
import { join } from "../../lib/platform";
import { append } from "../journal/append";
import { Blobs } from "../journal/blobs";
import { ensureReviewFolder, reviewFolder } from "../journal/folder";
import { removeLeftovers } from "../journal/prune";
import { JournalReader } from "../journal/read";
import type { Content, JournalRecord, NewRecord, RecordOf, UndoRecord } from "../journal/record";
import { type Lines, sameLines } from "../weave/lines";
import type { Change } from "../weave/row";
import type { Weave } from "../weave/weave";
import { asLines, Contents, type OnDisk, readOnDisk } from "./contents";
import { Heads, Sessions } from "./sessions";
import { TrackedFile } from "./tracked-file";

/** An edit that the user has just accepted in a diff is one of the last edits, of which we keep this many. */
const MAX_EDITS = 50;

/** A review has far fewer comments. */
const MAX_COMMENTS = 500;

/** A decision takes milliseconds, or a second for hundreds of large files. */
const DECISION_MS = 10_000;

/** A decision that can be taken back. */
export type Decision = RecordOf<"keep"> | UndoRecord;

/** A file's weave with the text on disk, or in a buffer. */
export interface View {
  weave: Weave;
  lines: Lines;
  /** Permission bits on disk. */
  mode?: number | undefined;
}

interface BufferView {
  file: TrackedFile;
  version: number;
  stamp: string;
  lines: Lines;
  view: View | undefined;
}

/** The journal of one root, applied to the files as they are now. */
export class ReviewedProject {
  readonly folder: string;
  readonly contents: Contents;
  files = new Map<string, TrackedFile>();
  sessions = new Sessions();
  #comments = new Map<string, Comment>();
  /** In order, without those that were taken back. */
  decisions: Decision[] = [];
  /** Sentences for the user about what the review does not know. */
  incomplete: string[] = [];
  /** Changes with each record. */
  version = 0;
  heads = new Heads();
  /** When a decision last changed git's index, in ms since the epoch. */
  indexChanged = 0;
  /** The last entries that Claude's calls put into git's indexes, by path: `MODE BLOB`. */
  staged = new Map<string, string>();
  /** The last changes by Claude's editing tools. */
  edits: { change: Change; path: string; after: Content }[] = [];
  /** Edits that Claude has announced since we opened the project, for `WatchedProject` to take. */
  announced: RecordOf<"seen">[] = [];
  readonly #opened = Date.now();
  readonly #reader: JournalReader;
  #isClean = false;
  #lastDecision: Promise<unknown> = Promise.resolve();
  #views = new Map<string, { version: number; disk: OnDisk; view: View | undefined }>();
  /** The views of buffers' texts. A view is for one state of the file. */
  #bufferViews = new WeakMap<Uint8Array, BufferView>();

  /** `root` is a real path. */
  constructor(readonly root: string) {
    this.folder = reviewFolder(root);
    this.contents = new Contents(new Blobs(this.folder));
    this.#reader = new JournalReader(this.folder);
  }

  /** Reads additions to the journal. Throws the system's error. */
  refresh(): void {
    this.#read(false);
  }

  /** Like `refresh`, but yields to other events, because the journal of a month is long. */
  async catchUp(): Promise<void> {
    while (this.#read(true)) await new Promise((resolve) => setImmediate(resolve));
    if (this.#isClean) return;
    this.#isClean = true;
    removeLeftovers(this.root, this.files.keys());
  }

  /** Returns whether there is more to read. */
  #read(inParts: boolean): boolean {
    const { records, restarted, isPart } = this.#reader.read(inParts);
    if (restarted) this.#reset();
    for (const record of records) this.#take(record);
    if (restarted || records.length > 0) this.version++;
    return isPart;
  }

  get damaged(): number {
    return this.#reader.damaged;
  }

  /** Appends a record, and applies it after earlier records of other processes. */
  append(record: NewRecord): JournalRecord {
    ensureReviewFolder(this.root);
    const written = append(this.folder, record);
    this.refresh();
    return written;
  }

  /**
   * Runs `work`, which makes a decision, after all earlier decisions: only one Neovim of a project decides at a time.
   * Throws Failure, the system's error, and the errors of `work`.
   */
  decide<T>(work: () => T | Promise<T>): Promise<T> {
    const decision = this.#lastDecision.then(() => this.#decideAlone(work));
    this.#lastDecision = decision.catch(() => {});
    return decision;
  }

  async #decideAlone<T>(work: () => T | Promise<T>): Promise<T> {
    ensureReviewFolder(this.root);
    using lock = await waitForLock(join(this.folder, "decide.lock"), DECISION_MS);
    if (!lock) throw new Failure("another Neovim decides about these changes: try again");
    this.refresh();
    return await work();
  }

  /** Undefined if the decision was taken back. */
  decision(id: string | undefined): Decision | undefined {
    return this.decisions.find((one) => one.id === id);
  }

  /**
   * The view of a file on disk, or of a buffer's `text`. Undefined if we know no text of the file, or cannot compare it
   * with the disk.
   */
  view(file: TrackedFile, text?: Uint8Array): View | undefined {
    const { disk, view } = this.#onDisk(file);
    // The buffer of a deleted file still has its text.
    const isGone = "lines" in disk && disk.lines.length === 0;
    if (!text || isGone) return view;
    const { version } = file;
    const known = this.#bufferViews.get(text);
    const isSame = known?.file === file && known.version === version;
    if (isSame && known.stamp === disk.stamp) return known.view;
    const lines = known?.lines ?? asLines(text);
    const mode = "lines" in disk ? disk.mode : undefined;
    const isOnDisk = view && sameLines(view.lines, lines);
    const found = isOnDisk ? view : viewOf(file, lines, mode);
    this.#bufferViews.set(text, { file, version, stamp: disk.stamp, lines, view: found });
    return found;
  }

  /** Why the file cannot be compared with the disk. */
  problem(file: TrackedFile): string | undefined {
    const { disk } = this.#onDisk(file);
    return "problem" in disk ? disk.problem : undefined;
  }

  /** Stores the content of a file on disk below the root. */
  onDisk(relativePath: string): Content | undefined {
    const file = this.files.get(relativePath);
    const disk = file ? this.#onDisk(file).disk : readOnDisk(this.root, relativePath);
    if (!("lines" in disk)) return undefined;
    ensureReviewFolder(this.root);
    return this.contents.put(disk.lines);
  }

  #onDisk(file: TrackedFile): { disk: OnDisk; view: View | undefined } {
    const known = this.#views.get(file.path);
    const disk = readOnDisk(this.root, file.path, known?.disk);
    if (known?.version === file.version && known.disk === disk) return known;
    const view = "lines" in disk ? viewOf(file, disk.lines, disk.mode) : undefined;
    const found = { version: file.version, disk, view };
    this.#views.set(file.path, found);
    return found;
  }

  /** The path below the root, with "/". A name may contain a backslash. */
  relativePath(path: string): string {
    return path.slice(this.root.length + 1);
  }

  path(file: TrackedFile): string {
    return join(this.root, file.path);
  }

  #reset(): void {
    this.files = new Map();
    this.sessions = new Sessions();
    this.#comments = new Map();
    this.decisions = [];
    this.incomplete = [];
    this.heads = new Heads();
    this.staged = new Map();
    this.edits = [];
    this.#views = new Map();
  }

  #file(path: string): TrackedFile {
    const known = this.files.get(path);
    if (known) return known;
    const file = new TrackedFile(path, this.contents);
    this.files.set(path, file);
    return file;
  }

  #take(record: JournalRecord): void {
    this.sessions.take(record);
    this.heads.take(record);
    switch (record.type) {
      case "change":
        return this.#change(record);
      case "written":
        for (const { path, content } of record.files) {
          this.#file(path).written(content, record.at);
        }
        return;
      case "keep":
        for (const file of record.files) this.#file(file.path).kept(record, file);
        this.decisions.push(record);
        return;
      case "undo":
      case "restore":
        for (const file of record.files) this.#file(file.path).undone(record, file);
        this.#changesIndex(record, record.at);
        this.decisions.push(record);
        return;
      case "back":
        this.#changesIndex(this.decision(record.decision), record.at, true);
        return this.#takenBack(record.decision, record.path);
      case "comment":
        return this.#comment(record);
      case "seen":
        if (record.at >= this.#opened) this.announced.push(record);
    }
  }

  #change(record: RecordOf<"change">): void {
    const { id, session, prompt, agent, tool, command, at, source } = record;
    if (record.incomplete !== undefined) this.incomplete.push(record.incomplete);
    this.edits = this.edits.slice(-MAX_EDITS);
    const since = record.began ?? this.sessions.since(session, record.use);
    // A comparison may find a change of an earlier turn.
    const known = source === "trees" ? undefined : since;
    const turn = this.sessions.numberOf(session, prompt, since);
    const change: Change = { id, session, prompt, turn, agent, tool, command, at, since: known };
    for (const [path, entry] of Object.entries(record.index ?? {})) this.staged.set(path, entry);
    for (const file of record.files) {
      this.#file(file.path).changed(change, file, source, since);
      if (source === "tool") this.edits.push({ change, path: file.path, after: file.after });
    }
  }

  #comment({ id, comment = id, state, path, rows, lines, text }: RecordOf<"comment">): void {
    const about = { path, rows: rows ?? [1, 1], lines: lines ?? [] };
    if (state === "deleted") this.#comments.delete(comment);
    else this.#comments.set(comment, { id: comment, ...about, text, is_sent: state === "sent" });
  }

  /** The newest comments, in the order in which they were made. */
  get comments(): Comment[] {
    return [...this.#comments.values()].slice(-MAX_COMMENTS);
  }

  /** An undo changes entries of git's index. They still count as Claude's, not as staged by the user. */
  #changesIndex(decision: Decision | undefined, at: number, isTakenBack = false): void {
    for (const { path, index } of !decision || decision.type === "keep" ? [] : decision.files) {
      if (!index) continue;
      this.indexChanged = at;
      const [was, is] = isTakenBack ? [index[1], index[0]] : index;
      if (this.staged.get(path) === was) this.staged.set(path, is);
    }
  }

  /** `only` limits it to one file. */
  #takenBack(id: string, only: string | undefined): void {
    this.decisions = this.decisions.flatMap((one) => {
      if (one.id !== id) return [one];
      const isMeant = ({ path }: { path: string }) => only === undefined || path === only;
      for (const { path } of one.files.filter(isMeant)) this.files.get(path)?.takenBack(id);
      const files = one.files.filter((file) => !isMeant(file));
      return files.length > 0 ? [{ ...one, files } as Decision] : [];
    });
  }
}

function viewOf(file: TrackedFile, lines: Lines, mode?: number): View | undefined {
  const weave = file.weave?.to(lines, "user");
  return weave && { weave, lines, ...(mode !== undefined && { mode }) };
}

/** A comment by the user on lines of a file, for Claude. */
export interface Comment {
  /** The id of its first record. */
  id: string;
  /** Relative to the root, with "/". */
  path: string;
  /** First row (from 1) and count, when the comment was made or its file last written. */
  rows: [number, number];
  /** The first of those lines, to find them again. */
  lines: string[];
  text: string;
  is_sent: boolean;
}
