import { linesOf } from "../weave/lines";

/** A hunk as the CLI gives them (npm `diff`): each line with " ", "-", "+" or "\" in front, no line end. */
export interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}

const NO_LINE_END = "\\";

/**
 * The bytes before the hunks, made of those after them. Lines that stay keep their bytes, and one that
 * comes back and was not UTF-8 holds U+FFFD. Where the CLI leaves out carriage returns (2.1.330 does so
 * at times), lines that come back get the line end of most others. Undefined where the hunks do not fit
 * the bytes.
 */
export function reverse(after: Uint8Array, hunks: readonly Hunk[]): Uint8Array | undefined {
  const lines = linesOf(after).slice(1);
  const showsCr = hunks.some((hunk) => hunk.lines.some((line) => line.endsWith("\r")));
  const usual = !showsCr && mostlyCrlf(lines) ? "\r\n" : "\n";
  const result: string[] = [];
  let at = 0;
  for (const hunk of [...hunks].sort((a, b) => a.newStart - b.newStart)) {
    const start = hunk.newLines === 0 ? Math.min(hunk.newStart, lines.length) : hunk.newStart - 1;
    if (start < at) return undefined;
    result.push(...lines.slice(at, start));
    const end = reverseHunk(hunk, lines, start, usual, result);
    if (end === undefined) return undefined;
    at = end;
  }
  result.push(...lines.slice(at));
  return Buffer.from(result.join(""), "latin1");
}

/** Adds the hunk's old lines to `result`; returns the row after its new ones. */
function reverseHunk(
  hunk: Hunk,
  lines: readonly string[],
  start: number,
  usual: string,
  result: string[],
): number | undefined {
  let at = start;
  for (const [index, line] of hunk.lines.entries()) {
    const [mark, text] = [line[0], line.slice(1)];
    const endless = hunk.lines[index + 1]?.startsWith(NO_LINE_END) ?? false;
    if (mark === NO_LINE_END) continue;
    if (mark === "-") {
      result.push(Buffer.from(text).toString("latin1") + (endless ? "" : usual));
      continue;
    }
    const present = lines[at];
    if (present === undefined || plain(present) !== text.replace(/\r$/, "")) return undefined;
    if (mark === " ") result.push(present);
    at += 1;
  }
  return at - start === hunk.newLines ? at : undefined;
}

/** As the CLI shows it: UTF-8, without its end. */
function plain(line: string): string {
  return Buffer.from(line, "latin1")
    .toString("utf8")
    .replace(/\r?\n$|\r$/, "");
}

function mostlyCrlf(lines: readonly string[]): boolean {
  return lines.filter((line) => line.endsWith("\r\n")).length * 2 > lines.length;
}
