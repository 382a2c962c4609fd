import { closeSync, fstatSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "../../lib/platform";
import { APPENDING } from "../../lib/private-folder";
import type { JournalRecord, NewRecord } from "./record";

const VERSION = 1;
/** Each further try means that another process replaced the journal between two of our system calls. */
const MAX_TRIES = 5;

export function journalPath(reviewFolder: string): string {
  return join(reviewFolder, "journal.jsonl");
}

/**
 * Appends one record and returns it with its version, time and id. Throws the system's error (ENOSPC, …).
 *
 * This needs no lock, because one write with O_APPEND stays in one piece. The write begins with a line end, so that a
 * line cut off by a full disk damages no other. Rewriting the journal (./rewrite.ts) replaces the file: we write a record
 * again that went to the old file, and readers recognize its id.
 */
export function append(reviewFolder: string, record: NewRecord): JournalRecord {
  const common = { v: VERSION, at: Date.now(), id: crypto.randomUUID() };
  const whole = { ...common, ...record } as JournalRecord;
  appendLines(reviewFolder, Buffer.from(`\n${JSON.stringify(whole)}\n`));
  return whole;
}

/** Appends whole lines. Throws the system's error. */
export function appendLines(reviewFolder: string, lines: Uint8Array): void {
  const path = journalPath(reviewFolder);
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    if (isWritten(path, lines)) return;
  }
}

/** Returns false if another file has replaced the one that it wrote to. */
function isWritten(path: string, lines: Uint8Array): boolean {
  const file = openSync(path, APPENDING, 0o600);
  try {
    const written = writeSync(file, lines);
    if (written < lines.length) throw new Error(`only ${written} bytes fit into ${path}`);
    // The system does not reuse the inode of an open file.
    // Those of Windows are too long for a number.
    const now = statSync(path, { bigint: true, throwIfNoEntry: false });
    return fstatSync(file, { bigint: true }).ino === now?.ino;
  } finally {
    closeSync(file);
  }
}
