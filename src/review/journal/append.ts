import { closeSync, fstatSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { APPENDING } from "../../lib/private-folder";
import type { JournalRecord, NewRecord } from "./record";

const VERSION = 1;
/** Someone would have to rewrite the journal as often between two of our system calls. */
const MAX_TRIES = 5;

export function journalPath(reviewFolder: string): string {
  return join(reviewFolder, "journal.jsonl");
}

/**
 * Appends one record; returns it with its version, time and id. Throws the system's error (ENOSPC, …).
 *
 * No lock: one write with O_APPEND stays in one piece. It begins with a line end, so that a line that
 * was cut off by a full disk spoils itself alone. Rewriting the journal (./rewrite.ts) puts a new
 * file in its place: a record that went to the old one is written again; readers know it by its id.
 */
export function append(reviewFolder: string, record: NewRecord): JournalRecord {
  const whole = {
    v: VERSION,
    at: Date.now(),
    id: crypto.randomUUID(),
    ...record,
  } as JournalRecord;
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

/** False: another file has taken the place of the one that it wrote to. */
function isWritten(path: string, lines: Uint8Array): boolean {
  const file = openSync(path, APPENDING, 0o600);
  try {
    const written = writeSync(file, lines);
    if (written < lines.length) throw new Error(`only ${written} bytes fit into ${path}`);
    // No other file gets the inode of one that is open.
    return fstatSync(file).ino === statSync(path, { throwIfNoEntry: false })?.ino;
  } finally {
    closeSync(file);
  }
}
