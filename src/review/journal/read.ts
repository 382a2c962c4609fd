import { closeSync, constants, fstatSync, writeFileSync } from "node:fs";
import * as v from "valibot";
import { attempt } from "../../lib/errors";
import { parseJson } from "../../lib/json";
import { join } from "../../lib/platform";
import { isOwn, makePrivateFolder } from "../../lib/private-folder";
import { openIfThere, readRange, readText } from "../../lib/read-regular";
import { journalPath } from "./append";
import { JournalRecord, RECORD_TYPES, type RecordOf } from "./record";

/** Years of use. We read it at once into a string, and a Neovim keeps less than four times this size in memory. */
export const JOURNAL_BYTES = 128 * 1024 * 1024;

/** Read between other events, in about 10 ms. A longer line is read whole. */
const CHUNK_BYTES = 64 * 1024;

/** The beginning of a record, which includes its time and id. */
const COMPARED_BYTES = 200;

/** Reads a root's journal, and then its additions. */
export class JournalReader {
  #offset = 0;
  /**
   * The offset and beginning of the last record read. Rewriting makes the journal shorter, so the journal up to this
   * record is unchanged while the record is in its place. An inode does not show that, because the system may reuse the
   * inode of an earlier journal.
   */
  #last = { offset: 0, bytes: Buffer.alloc(0) };
  #seen = new Set<string>();
  /** The number of unreadable lines. We copy them into `set-aside/`. */
  damaged = 0;

  constructor(private readonly folder: string) {}

  /**
   * Returns the records added since the last call; none if there is no journal. With `inParts`, returns at most a part:
   * `isPart` means that more is left. If `restarted`, the journal was rewritten, and these records replace all earlier
   * ones. Throws the system's error if the journal cannot be read.
   */
  read(inParts = false): { records: JournalRecord[]; isPart: boolean; restarted: boolean } {
    const path = journalPath(this.folder);
    // Without O_NONBLOCK, opening a FIFO would wait for a writer.
    const file = openIfThere(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (file === undefined) return { records: [], isPart: false, restarted: this.#restart() };
    try {
      const stats = fstatSync(file);
      const { size } = stats;
      if (!stats.isFile() || !isOwn(stats) || size > JOURNAL_BYTES)
        throw new Error(`${path} is not a journal: move it away`);
      const restarted = !this.#continues(file, size) && this.#restart();
      const before = this.#offset;
      for (let most = inParts ? CHUNK_BYTES : size; ; most *= 2) {
        const end = Math.min(size, before + most);
        const records = this.#parse(readRange(file, before, end));
        if (this.#offset > before || end === size)
          return { records, isPart: end < size, restarted };
      }
    } finally {
      closeSync(file);
    }
  }

  /** Whether the journal up to the last record read is unchanged. */
  #continues(file: number, size: number): boolean {
    const { offset, bytes } = this.#last;
    return size >= this.#offset && bytes.equals(readRange(file, offset, offset + bytes.length));
  }

  /** Returns whether anything was read before. */
  #restart(): boolean {
    const wasRead = this.#offset > 0;
    this.#offset = 0;
    this.#last = { offset: 0, bytes: Buffer.alloc(0) };
    this.#seen = new Set();
    this.damaged = 0;
    return wasRead;
  }

  /** Leaves a last line without a line end for later: a process is still writing it, or it was cut off. */
  #parse(bytes: Buffer): JournalRecord[] {
    const end = bytes.lastIndexOf(0x0a) + 1;
    this.#remember(bytes.subarray(0, end));
    this.#offset += end;
    return bytes
      .toString("utf8", 0, end)
      .split("\n")
      .flatMap((line) => (line === "" ? [] : this.#record(line)));
  }

  /** Remembers the last record of these lines. An empty line precedes each record. */
  #remember(lines: Buffer): void {
    let end = lines.length;
    while (end > 0 && lines[end - 1] === 0x0a) end--;
    if (end === 0) return;
    const start = lines.lastIndexOf(0x0a, end - 1) + 1;
    const bytes = Buffer.from(lines.subarray(start, Math.min(end, start + COMPARED_BYTES)));
    this.#last = { offset: this.#offset + start, bytes };
  }

  #record(line: string): JournalRecord[] {
    const record = parseLine(line);
    if (record === "damaged") this.#setAside(line);
    if (typeof record === "string" || this.#seen.has(record.id)) return [];
    this.#seen.add(record.id);
    return [record];
  }

  #setAside(line: string): void {
    this.damaged += 1;
    const folder = join(this.folder, "set-aside");
    const path = join(folder, `${Bun.hash(line).toString(16)}.jsonl`);
    // If this fails, the line is still in the journal.
    attempt(() => makePrivateFolder(folder));
    attempt(() => writeFileSync(path, `${line}\n`, { mode: 0o600 }));
  }
}

/** The raw lines of a journal; empty if it cannot be read. */
export function journalLines(reviewFolder: string): string[] {
  return readText(journalPath(reviewFolder), JOURNAL_BYTES)?.split("\n") ?? [];
}

/** The records of one type, without parsing the others: a hook reads the journal at each prompt. */
export function recordsOf<T extends JournalRecord["type"]>(
  reviewFolder: string,
  type: T,
): RecordOf<T>[] {
  return journalLines(reviewFolder).flatMap((line) => {
    const record = line.includes(`"type":"${type}"`) ? parseLine(line) : "other";
    return typeof record === "object" && record.type === type ? [record as RecordOf<T>] : [];
  });
}

/** Returns "other" for the record types of other versions, and for a queued undo of an earlier version. */
export function parseLine(line: string): JournalRecord | "damaged" | "other" {
  const value = parseJson(line);
  const result = v.safeParse(JournalRecord, value);
  if (result.success) return result.output;
  const { type, queued } = (value ?? {}) as { type?: unknown; queued?: unknown };
  const isOther = typeof type === "string" && !RECORD_TYPES.has(type);
  return isOther || (type === "undo" && queued !== undefined) ? "other" : "damaged";
}
