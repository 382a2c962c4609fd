import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import { keptMode } from "../lib/atomic-write";
import { readPrivateJson } from "../lib/json";
import {
  isBelow,
  isThere,
  namesIn,
  removeEmptyFolder,
  removeFile,
  stateFolder,
} from "../lib/paths";
import { isOwn, makePrivateFolder } from "../lib/private-folder";
import { isGone, ownProcess } from "../lib/process";
import { readRegular } from "../lib/read-regular";
import { rewrite } from "../lib/rewrite";
import type { FileChange } from "./virtual-files";

/** Older operations are forgotten: nobody takes them back any more. */
const MOST_OPERATIONS = 20;
/** An operation takes seconds: one whose process is still there has a reused process id by then. */
const STALE_MS = 60_000;

const Hash = v.nullable(v.string());
const Stored = v.object({
  /** Ms since the epoch. */
  at: v.number(),
  pid: v.number(),
  /** The machine and container in which that number is valid. */
  domain: v.optional(v.string()),
  /** What was done, for the user: "the rename of a to b". */
  label: v.string(),
  /** The project's folder, as Claude Code names it. */
  place: v.string(),
  /** The worktree that came home; `head`: its commit, where all of it came; `theirs`: what it holds, by path. */
  worktree: v.optional(
    v.object({
      path: v.string(),
      head: v.optional(v.string()),
      theirs: v.optional(v.record(v.string(), Hash)),
    }),
  ),
  /** The id of the operation that it takes back. */
  undoes: v.optional(v.string()),
  files: v.array(
    v.object({
      path: v.string(),
      /** SHA-256; null: the file is not there. */
      before: Hash,
      after: Hash,
      /** Bytes before it; they stand in `texts` one behind the other. */
      size: v.number(),
      /** Permission bits, where they may change. */
      mode: v.optional(v.object({ before: v.number(), after: v.number() })),
      draft: v.optional(v.string()),
      /** It has several names, or another owner: written in place, so a crash can cut it off. */
      in_place: v.optional(v.boolean()),
      from: v.optional(v.string()),
    }),
  ),
  /** Folders that were made for it, the outermost first. */
  folders: v.array(v.string()),
});
type Stored = v.InferOutput<typeof Stored>;
export type StoredFile = Stored["files"][number];
export type Labelled = Pick<Stored, "label" | "place" | "worktree" | "undoes">;
export type Staged = Pick<Stored, "files" | "folders">;

/**
 * One edit of many files, recorded before the first of them changes. Its folder below
 * `edits/` holds `operation.json`, the bytes before (`texts`), and two files: `ready` until Neovim
 * begins to change files (who removes it decides: Neovim begins, or we give up), and `done` when all are
 * changed. One without `done` was interrupted, and is completed or taken back (./recover.ts).
 */
export class Operation {
  #texts: Buffer | undefined;

  private constructor(
    readonly folder: string,
    readonly stored: Stored,
  ) {}

  /** Records an operation, to the disk. Throws the system's error; then nothing is left of it. */
  static begin(what: Labelled, changes: readonly FileChange[], staged: Staged): Operation {
    const at = Date.now();
    const folder = join(operationsFolder(), `${at}-${crypto.randomUUID().slice(0, 8)}`);
    makePrivateFolder(folder);
    try {
      const texts = changes.flatMap(({ before }) => before ?? []);
      writeSynced(join(folder, "texts"), Buffer.concat(texts));
      const stored = { at, ...ownProcess(), ...what, ...staged };
      writeFileSync(join(folder, "ready"), "", { mode: 0o600 });
      writeSynced(join(folder, "operation.json"), Buffer.from(JSON.stringify(stored)));
      // Not possible for a folder's entries on Windows.
      if (process.platform !== "win32") sync(folder, "r");
      return new Operation(folder, stored);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** All that are recorded, the newest first. */
  static all(): Operation[] {
    return names().flatMap((name) => {
      const folder = join(operationsFolder(), name);
      const stored = readStored(folder);
      return stored ? [new Operation(folder, stored)] : [];
    });
  }

  get id(): string {
    return basename(this.folder);
  }

  get readyPath(): string {
    return join(this.folder, "ready");
  }

  get isDone(): boolean {
    return isThere(join(this.folder, "done"));
  }

  /** Does a process still work on it? */
  get isRunning(): boolean {
    const own = ownProcess();
    const { at, pid, domain = own.domain } = this.stored;
    const isOurs = pid === own.pid && domain === own.domain;
    return !isOurs && Date.now() - at <= STALE_MS && !isGone({ pid, domain });
  }

  isInside(folders: readonly string[]): boolean {
    return this.stored.files.every(({ path }) => folders.some((folder) => isBelow(path, folder)));
  }

  /** Keeps Neovim from beginning. False: it has begun. */
  claim(): boolean {
    return removeFile(this.readyPath);
  }

  /** What takes another one back is forgotten with that. */
  markDone(): void {
    writeSynced(join(this.folder, "done"), new Uint8Array());
    for (const { draft } of this.stored.files) if (draft) rmSync(draft, { force: true });
    const { undoes } = this.stored;
    if (undoes !== undefined) {
      for (const one of Operation.all()) if (one.id === undoes) one.forget();
      this.forget();
    }
    for (const name of names().slice(MOST_OPERATIONS)) {
      rmSync(join(operationsFolder(), name), { recursive: true, force: true });
    }
  }

  /** The bytes of a file before it; undefined: it was not there. Throws the system's error. */
  before(index: number): Uint8Array | undefined {
    const file = this.stored.files[index] as StoredFile;
    if (file.before === null) return undefined;
    const start = this.stored.files.slice(0, index).reduce((sum, { size }) => sum + size, 0);
    this.#texts ??= readRegular(join(this.folder, "texts"), Number.POSITIVE_INFINITY);
    return this.#texts.subarray(start, start + file.size);
  }

  /** What a file holds now: as before, as after, or neither of them. */
  state(index: number): "before" | "after" | "other" {
    const { path, before, after, mode } = this.stored.files[index] as StoredFile;
    const now = hashOnDisk(path);
    const has = (content: string | null, bits?: number) =>
      now === content && (now === null || !mode || keptMode(lstatSync(path)) === bits);
    if (has(after, mode?.after)) return "after";
    return has(before, mode?.before) ? "before" : "other";
  }

  /**
   * Makes files what they were, and forgets the operation. Those that are neither as before nor as
   * after were changed since: they stay, and are returned. Throws the system's error.
   */
  takeBack(): string[] {
    const kept: string[] = [];
    for (const [index, { path }] of this.stored.files.entries()) {
      const state = this.state(index);
      if (state === "after" || this.#isCutOff(index, state)) this.#restore(index);
      else if (state === "other") kept.push(path);
    }
    this.forget();
    return kept;
  }

  /** A crash in the middle of a write in place leaves the beginning of the new text. */
  #isCutOff(index: number, state: "before" | "other"): boolean {
    const { path, draft, in_place } = this.stored.files[index] as StoredFile;
    if (state !== "other" || !in_place || !draft || !isThere(draft) || !isThere(path)) return false;
    const now = readRegular(path);
    return Buffer.compare(now, readRegular(draft).subarray(0, now.length)) === 0;
  }

  #restore(index: number): void {
    const { path, mode } = this.stored.files[index] as StoredFile;
    const bytes = this.before(index);
    if (!bytes) return rmSync(path, { force: true });
    mkdirSync(dirname(path), { recursive: true });
    rewrite(path, bytes, lstatSync(path, { throwIfNoEntry: false }));
    if (mode) chmodSync(path, mode.before);
  }

  /** Removes what is left of it: drafts, folders that are empty, its record. */
  forget(): void {
    for (const { draft } of this.stored.files) if (draft) rmSync(draft, { force: true });
    removeEmpty(this.stored.folders);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) removeEmptyFolder(folder);
}

/** In lower-case hex digits; null for a file that is not there. */
export function hash(bytes: Uint8Array | undefined): string | null {
  return bytes ? new Bun.CryptoHasher("sha256").update(bytes).digest("hex") : null;
}

function hashOnDisk(path: string): string | null | undefined {
  try {
    return hash(isThere(path) ? readRegular(path) : undefined);
  } catch {
    return undefined;
  }
}

function operationsFolder(): string {
  return join(stateFolder(), "edits");
}

/** The newest first. */
function names(): string[] {
  return namesIn(operationsFolder()).sort().reverse();
}

/** What another user has put there does not count. */
function readStored(folder: string): Stored | undefined {
  const { success, output } = v.safeParse(Stored, readPrivateJson(join(folder, "operation.json")));
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  return success && stats && isOwn(stats) ? output : undefined;
}

function writeSynced(path: string, bytes: Uint8Array): void {
  writeFileSync(path, bytes, { mode: 0o600 });
  sync(path, "r+");
}

function sync(path: string, flags: string): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
