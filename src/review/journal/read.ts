import { closeSync, constants, fstatSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { attempt } from "../../lib/errors";
import { parseJson } from "../../lib/json";
import { isOwn, makePrivateFolder } from "../../lib/private-folder";
import { openIfThere, readRange, readText } from "../../lib/read-regular";
import { journalPath } from "./append";
import { JournalRecord, RECORD_TYPES, type RecordOf } from "./record";

/**
 * Years of use. It is read at once, into a string; what a Neovim keeps of it is less than four times as much.
 */
export const JOURNAL_BYTES = 128 * 1024 * 1024;

/** Read in one go where other events wait: some 10 ms. A longer line is read whole. */
const CHUNK_BYTES = 64 * 1024;

/** The records since the last reading. */
interface NewRecords {
  records: JournalRecord[];
  /** There is more to read. */
  isPart: boolean;
  /** The journal was rewritten: these are all of its records, and replace those before. */
  restarted: boolean;
}

/** Compares this much of a record, which includes its time and id. */
const COMPARED_BYTES = 200;

/** Reads a root's journal, and later what was added to it. */
export class JournalReader {
  #offset = 0;
  /**
   * The place of the last record that was read, and how it begins. Rewriting the journal makes it
   * shorter, so all before it is as it was while that is there. An inode says less: the system gives
   * that of the journal before the last one to the next one.
   */
  #last = { offset: 0, bytes: Buffer.alloc(0) };
  #seen = new Set<string>();
  /** Lines that could not be read, in all; they are copied into `set-aside/`. */
  damaged = 0;

  constructor(private readonly folder: string) {}

  /**
   * No journal yet: no records. `inParts`: at most a part of it, the next one at the next call. Throws the
   * system's error where there is a journal that cannot be read.
   */
  read(inParts = false): NewRecords {
    const path = journalPath(this.folder);
    // A FIFO would wait for a writer.
    const file = openIfThere(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (file === undefined) return { records: [], isPart: false, restarted: this.#restart() };
    try {
      const stats = fstatSync(file);
      const { size } = stats;
      if (!stats.isFile() || !isOwn(stats) || size > JOURNAL_BYTES)
        throw new Error(`${path} is not a journal: move it away`);
      const restarted = !this.#goesOn(file, size) && this.#restart();
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

  /** Is what was read still there? */
  #goesOn(file: number, size: number): boolean {
    const { offset, bytes } = this.#last;
    return size >= this.#offset && bytes.equals(readRange(file, offset, offset + bytes.length));
  }

  /** Returns whether something was read before. */
  #restart(): boolean {
    const wasRead = this.#offset > 0;
    this.#offset = 0;
    this.#last = { offset: 0, bytes: Buffer.alloc(0) };
    this.#seen = new Set();
    this.damaged = 0;
    return wasRead;
  }

  /** A last line without an end is still being written, or was cut off: it waits. */
  #parse(bytes: Buffer): JournalRecord[] {
    const end = bytes.lastIndexOf(0x0a) + 1;
    this.#remember(bytes.subarray(0, end));
    this.#offset += end;
    return bytes
      .toString("utf8", 0, end)
      .split("\n")
      .flatMap((line) => (line === "" ? [] : this.#record(line)));
  }

  /** An empty line precedes each record. */
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
    // If that fails, it stays in the journal.
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

/** "other": of a type that another version writes, or an undo that was queued, as earlier ones could be. */
export function parseLine(line: string): JournalRecord | "damaged" | "other" {
  const value = parseJson(line);
  const result = v.safeParse(JournalRecord, value);
  if (result.success) return result.output;
  const { type, queued } = (value ?? {}) as { type?: unknown; queued?: unknown };
  const isOther = typeof type === "string" && !RECORD_TYPES.has(type);
  return isOther || (type === "undo" && queued !== undefined) ? "other" : "damaged";
}
