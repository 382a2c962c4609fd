import { existsSync, linkSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { replace } from "../../lib/atomic-write";
import { isObject, parseObject } from "../../lib/json";
import { tryLock } from "../../lib/lock";
import { join } from "../../lib/platform";
import { readRegular } from "../../lib/read-regular";
import { appendLines, journalPath } from "./append";
import { JOURNAL_BYTES } from "./read";
import type { RecordedScope } from "./record";

/** `journal.previous.OFFSET` is the journal before a rewrite, which read it up to OFFSET. */
const PREVIOUS = /^journal\.previous\.(\d+)$/;

/**
 * The fields of a record that rewriting needs, unvalidated. `decision` belongs to a `back`, `comment` and `state` to a
 * comment.
 */
export type Line = Partial<
  Record<
    "type" | "id" | "at" | "session" | "use" | "head" | "files" | "decision" | "comment" | "state",
    unknown
  >
> & { scope?: RecordedScope };

export type LineFile = Partial<Record<"path" | "from" | "keep", unknown>>;

export function filesOf({ files }: Line): LineFile[] {
  if (!Array.isArray(files)) return [];
  return files.filter(isObject);
}

/** Gets all records. The returned function replaces each record; null removes it. */
export type Plan = (records: readonly Line[]) => (record: Line) => Line | null;

/**
 * Rewrites the journal with one plan after the other, and removes lines that are not JSON. Other processes may append at
 * the same time, and this process may be killed at any moment: records that the old file received late are appended to
 * the new one. Returns false if nothing changes, or if another process is rewriting the journal. Throws the system's
 * error and leaves the journal unchanged.
 */
export function rewriteJournal(reviewFolder: string, ...plans: Plan[]): boolean {
  if (!existsSync(journalPath(reviewFolder))) return false;
  using lock = tryLock(join(reviewFolder, "journal.lock"));
  if (!lock) return false;
  finish(reviewFolder);
  const path = journalPath(reviewFolder);
  const text = readRegular(path, JOURNAL_BYTES);
  const end = text.lastIndexOf(0x0a) + 1;
  const lines = text.toString("utf8", 0, end).split("\n").filter(Boolean);
  const kept = rewritten(lines, plans);
  if (Bun.deepEquals(lines, kept)) return false;
  replace(path, (draft) => {
    writeFileSync(draft, kept.map((line) => `${line}\n`).join(""), { mode: 0o600 });
    linkSync(path, join(reviewFolder, `journal.previous.${end}`));
  });
  finish(reviewFolder);
  return true;
}

function rewritten(lines: readonly string[], plans: readonly Plan[]): string[] {
  const before = lines.map((line): Line | undefined => parseObject(line));
  let records = before;
  for (const plan of plans) {
    const change = plan(records.filter((record) => record !== undefined));
    records = records.map((record) => (record && change(record)) ?? undefined);
  }
  return records.flatMap((record, i) => {
    if (!record) return [];
    return record === before[i] ? (lines[i] as string) : JSON.stringify(record);
  });
}

/** Appends late records, also for a killed process. Readers ignore duplicates of a record. */
function finish(reviewFolder: string): void {
  for (const name of readdirSync(reviewFolder)) {
    const offset = PREVIOUS.exec(name)?.[1];
    if (offset === undefined) continue;
    const path = join(reviewFolder, name);
    const late = readRegular(path, JOURNAL_BYTES).subarray(Number(offset));
    if (late.length > 0) appendLines(reviewFolder, late);
    rmSync(path, { force: true });
  }
}
