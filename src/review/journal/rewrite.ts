import { existsSync, linkSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replace } from "../../lib/atomic-write";
import { isObject, parseObject } from "../../lib/json";
import { tryLock } from "../../lib/lock";
import { readRegular } from "../../lib/read-regular";
import { appendLines, journalPath } from "./append";
import { JOURNAL_BYTES } from "./read";
import type { RecordedScope } from "./record";

/** `journal.previous.OFFSET`: the journal before it was rewritten, read up to there. */
const PREVIOUS = /^journal\.previous\.(\d+)$/;

/**
 * The fields of a record that rewriting reads, not validated. `decision` names the decision that a `back` takes back;
 * `comment` and `state` belong to a comment.
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

/** Given all records, returns a function that replaces each; null removes it. */
export type Plan = (records: readonly Line[]) => (record: Line) => Line | null;

/**
 * Replaces each record as the plans say, one plan after the other; removes lines that are not JSON.
 * Others may append at the same time, and this process may be killed at any moment: what was added to
 * the old file after it was read is appended to the new one. Returns whether the journal was replaced;
 * it is not while another process rewrites it. Throws the system's error and leaves the journal unchanged.
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

/** Also after a process that was killed in between. Readers count a record that comes twice once. */
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
