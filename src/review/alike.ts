import { counted, visibleLine } from "../lib/visible";
import { compare } from "./weave/compare";
import type { Hunk } from "./weave/hunks";

/** A word, blanks, or another character, in bytes. */
const TOKEN = /[\w\x80-\xff]+|[ \t\r\n]+|[\s\S]/g;

/** Characters that a question shows of each text. */
const MAX_SHOWN = 30;

/** The texts that a hunk replaces, and their replacements, each pair once. */
export type Replaced = ReadonlyMap<string, readonly [old: string, now: string]>;

/** Compares words: all hunks of a rename by `sed` replace the same ones. */
export function replacedBy({ oldLines, newLines }: Hunk): Replaced {
  const [old = [], now = []] = [oldLines, newLines].map(
    (lines) => lines.join("").match(TOKEN) ?? [],
  );
  const pairs = compare(old, now).map(({ oldStart, oldEnd, newStart, newEnd }) => {
    return [old.slice(oldStart, oldEnd).join(""), now.slice(newStart, newEnd).join("")] as const;
  });
  return new Map(pairs.map((pair) => [pair.join("\0"), pair]));
}

export function isSame(one: Replaced, other: Replaced): boolean {
  return one.size === other.size && [...one.keys()].every((pair) => other.has(pair));
}

/** "changed price → cost", "added count", "changed white space". */
function changeOf(texts: readonly string[]): string {
  const [old, now] = texts.map((bytes) => {
    const words = visibleLine(Buffer.from(bytes, "latin1").toString(), MAX_SHOWN);
    return words || (bytes && "white space");
  });
  if (old === now) return `changed ${old}`;
  return old && now ? `changed ${old} → ${now}` : old ? `removed ${old}` : `added ${now}`;
}

/** "Claude changed price → cost: 40 hunks in 31 files". */
export function questionAbout(replaced: Replaced, hunks: number, files: number): string {
  const [first = []] = replaced.values();
  const more = replaced.size > 1 ? ` and ${replaced.size - 1} more` : "";
  return `Claude ${changeOf(first)}${more}: ${counted(hunks, "hunk")} in ${counted(files, "file")}`;
}
