import { join, sep } from "node:path";
import { Failure } from "../../lib/errors";
import { waitForLock } from "../../lib/lock";
import { append } from "../journal/append";
import { Blobs } from "../journal/blobs";
import { ensureReviewFolder, reviewFolder } from "../journal/folder";
import { removeLeftovers } from "../journal/prune";
import { JournalReader } from "../journal/read";
import type { Content, JournalRecord, NewRecord, RecordOf } from "../journal/record";
import { type Lines, sameLines } from "../weave/lines";
import type { Change } from "../weave/row";
import type { Weave } from "../weave/weave";
import { asLines, Contents, type OnDisk, readOnDisk } from "./contents";
import { Heads, Sessions } from "./sessions";
import { TrackedFile } from "./tracked-file";

/** Looks through this many for changes that the user has just accepted in a diff. */
const MAX_EDITS = 50;

/** A review is a matter of some. */
const MAX_COMMENTS = 500;

/** A decision takes some milliseconds, and one about hundreds of large files a second. */
const DECISION_MS = 10_000;

/** A decision that can be taken back. */
export type Decision = RecordOf<"keep"> | RecordOf<"undo">;

/** A file's weave up to a text: what is on disk, or in a buffer. */
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

/** The journal of one root, applied to the files as they are. */
export class ReviewedProject {
  readonly folder: string;
  readonly contents: Contents;
  files = new Map<string, TrackedFile>();
  sessions = new Sessions();
  #comments = new Map<string, Comment>();
  /** In order, without those that were taken back. */
  decisions: Decision[] = [];
  /** Sentences for the user: what the review does not know. */
  incomplete: string[] = [];
  /** Changes with each record. */
  version = 0;
  heads = new Heads();
  /** When a decision last changed git's index, in ms since the epoch. */
  indexChanged = 0;
  /** The last entries of git's indexes that came by Claude's calls, by path: `MODE BLOB`. */
  staged = new Map<string, string>();
  /** The last changes of Claude's editing tools. */
  edits: { change: Change; path: string; after: Content }[] = [];
  readonly #reader: JournalReader;
  #isClean = false;
  #lastDecision: Promise<unknown> = Promise.resolve();
  #views = new Map<string, { version: number; disk: OnDisk; view: View | undefined }>();
  /** The views of buffers' texts, each for one state of the file. */
  #bufferViews = new WeakMap<Uint8Array, BufferView>();

  /** `root` is a real path. */
  constructor(readonly root: string) {
    this.folder = reviewFolder(root);
    this.contents = new Contents(new Blobs(this.folder));
    this.#reader = new JournalReader(this.folder);
  }

  /** Reads what was added to the journal. Throws the system's error. */
  refresh(): void {
    this.#read(false);
  }

  /** As refresh(), but yields to other events in between: the journal of a month is long. */
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

  /** Lines of the journal that could not be read. */
  get damaged(): number {
    return this.#reader.damaged;
  }

  /** Records a decision, and applies it after any records that other processes wrote before it. */
  append(record: NewRecord): JournalRecord {
    ensureReviewFolder(this.root);
    const written = append(this.folder, record);
    this.refresh();
    return written;
  }

  /**
   * Runs `work`, which decides, after all that was decided before it: of the Neovims of a project one
   * at a time decides. Throws Failure, the system's error, and what `work` throws.
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

  /** Undefined also for one that was taken back. */
  decision(id: string | undefined): Decision | undefined {
    return this.decisions.find((one) => one.id === id);
  }

  /**
   * A file as it is on disk, or with `text` in a buffer. Undefined if nothing is known of its
   * text, or the disk cannot be compared.
   */
  view(file: TrackedFile, text?: Uint8Array): View | undefined {
    const { disk, view } = this.#onDisk(file);
    // The buffer of a file that was deleted still holds its text.
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

  /** Stores the content on disk of a file below the root. */
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

  /** An absolute path as one below the root, with "/". A backslash may be part of a name. */
  relativePath(path: string): string {
    return path
      .slice(this.root.length + 1)
      .split(sep)
      .join("/");
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
        for (const file of record.files) this.#file(file.path).undone(record, file);
        this.#changesIndex(record, record.at);
        this.decisions.push(record);
        return;
      case "back":
        this.#changesIndex(this.decision(record.decision), record.at, true);
        return this.#takenBack(record.decision, record.path);
      case "comment":
        return this.#comment(record);
    }
  }

  #change(record: RecordOf<"change">): void {
    const { id, session, prompt, agent, tool, command, at, source } = record;
    if (record.incomplete !== undefined) this.incomplete.push(record.incomplete);
    this.edits = this.edits.slice(-MAX_EDITS);
    const since = record.began ?? this.sessions.since(session, record.use);
    // A change that is found later may belong to an earlier turn.
    const known = source === "trees" ? undefined : since;
    const change: Change = { id, session, prompt, agent, tool, command, at, since: known };
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

  /** In the order in which they were made; the newest ones if there are too many. */
  get comments(): Comment[] {
    return [...this.#comments.values()].slice(-MAX_COMMENTS);
  }

  /** An undo changes Claude's entries of git's index: the user has not staged those. */
  #changesIndex(decision: Decision | undefined, at: number, isTakenBack = false): void {
    for (const { path, index } of decision?.type === "undo" ? decision.files : []) {
      if (!index) continue;
      this.indexChanged = at;
      const [was, is] = isTakenBack ? [index[1], index[0]] : index;
      if (this.staged.get(path) === was) this.staged.set(path, is);
    }
  }

  /** Only in one file, if given. */
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

/** A comment of the user's on lines of a file, for Claude. */
export interface Comment {
  /** The id of the record that made it. */
  id: string;
  /** Relative to the root, with "/". */
  path: string;
  /** First row (from 1) and count, when it was made or its file was written last. */
  rows: [number, number];
  /** The first of those lines, by which they are found again. */
  lines: string[];
  text: string;
  /** Claude has received it. */
  is_sent: boolean;
}
