import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sameContent } from "../blobs";
import { committedFiles } from "../git/committed";
import { headCommit } from "../git/head";
import { repositoryAround } from "../git/nested";
import { Git } from "../git/run";
import { journalPath } from "../journal/append";
import { parseLine } from "../journal/read";
import type { Content, JournalRecord } from "../journal/record";
import type { Project } from "./project";
import { readSnapshot, type Snapshot } from "./snapshot";

/** Looking into a commit starts git twice, 3 ms each. */
const MOST_COMMITTED = 10;

/** What is known of earlier contents of files: by the journal, the last snapshot, HEAD. */
export class KnownContents {
  readonly #project: Project;
  #lines: string[] | undefined;
  #snapshot: Snapshot | undefined | null = null;
  #lookups = 0;
  /** Permission bits in HEAD, of what was looked up. */
  readonly #modes = new Map<string, number>();

  constructor(project: Project) {
    this.#project = project;
  }

  /**
   * The contents that a path may have had before Claude's change, the most likely first; those of
   * commits only if `committed`.
   */
  *candidates(path: string, committed = true): Generator<Content> {
    const last = this.#inJournal(path);
    const snapshot = this.#readSnapshot();
    const file = snapshot && Object.hasOwn(snapshot.files, path) ? snapshot.files[path] : undefined;
    const isNewer = last !== undefined && (!snapshot || last.at >= snapshot.at);
    if (isNewer) yield last.content;
    if (file && !(last && sameContent(file.content, last.content))) yield file.content;
    const inHead = file || !committed ? undefined : this.#inHead(path);
    if (inHead) yield inHead;
    if (last && !isNewer) yield last.content;
  }

  /** The permission bits of a path before Claude's change, after `candidates` looked for its text. */
  mode(path: string): number | undefined {
    const files = this.#readSnapshot()?.files;
    const inSnapshot = files && Object.hasOwn(files, path) ? files[path]?.mode : undefined;
    return inSnapshot || this.#modes.get(path);
  }

  /** What the newest record says. A search in the text is quicker than reading each line. */
  #inJournal(path: string): { content: Content; at: number } | undefined {
    this.#lines ??= readLines(journalPath(this.#project.folder));
    const needle = `"path":${JSON.stringify(path)}`;
    for (let i = this.#lines.length - 1; i >= 0; i--) {
      const line = this.#lines[i] ?? "";
      const record = line.includes(needle) ? parseLine(line) : "other";
      const content = typeof record === "object" ? contentAfter(record, path) : undefined;
      if (content && typeof record === "object") return { content, at: record.at };
    }
    return undefined;
  }

  #readSnapshot(): Snapshot | undefined {
    if (this.#snapshot === null) this.#snapshot = readSnapshot(this.#project.folder);
    return this.#snapshot;
  }

  #inHead(path: string): Content | undefined {
    const { root, git: outer, blobs } = this.#project;
    if (!outer || this.#lookups >= MOST_COMMITTED) return undefined;
    const folder = repositoryAround(root, path);
    const git = folder === "" ? outer : Git.in(join(root, folder));
    const snapshot = this.#readSnapshot();
    const last = folder === "" ? snapshot?.head : snapshot?.nested?.[folder];
    const head = last ?? headCommit(join(root, folder));
    if (!git || head === undefined) return undefined;
    this.#lookups += 1;
    const inner = folder === "" ? path : path.slice(folder.length + 1);
    const files = git.wait(committedFiles(head, [inner]));
    if (!files) return undefined;
    const file = files.get(inner);
    if (!file) return { absent: true };
    this.#modes.set(path, file.mode);
    return file.bytes && blobs.put(file.bytes);
  }
}

/** What a path holds after a record. */
export function contentAfter(record: JournalRecord, path: string): Content | undefined {
  if (record.type === "written")
    return record.files.findLast((file) => file.path === path)?.content;
  if (record.type !== "change" && record.type !== "undo") return undefined;
  const files: readonly { path: string; after: Content }[] = record.files;
  return files.findLast((file) => file.path === path)?.after;
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return [];
  }
}
