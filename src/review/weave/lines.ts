/**
 * A text for the weave: one string per line, with its line end (`\n`, `\r\n` or none), so that the joined strings have
 * the same bytes. Each character is one byte (Latin-1) in any encoding, so that invalid UTF-8 survives.
 *
 * The first line is always `FILE`. It represents the file itself, which a change can create and delete like any line: an
 * absent file is the empty list, an empty file is `[FILE]`.
 */
export type Lines = readonly string[];

/** No other line is empty, because each contains at least its line end. */
export const FILE = "";

/** Before the name of a blob, in the single line that represents binary content. */
const OPAQUE = "\0blob:";
const OPAQUE_LENGTH = OPAQUE.length + 64;

/** The lines of a text file's bytes. */
export function linesOf(bytes: Uint8Array): Lines {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const lines = [FILE];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start) + 1 || text.length;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

/** The bytes of lines that `isText`. */
export function bytesOf(lines: Lines): Buffer {
  return Buffer.from(lines.join(""), "latin1");
}

/** The lines of binary content: one line with the name of the blob. */
export function opaqueLines(blob: string): Lines {
  return [FILE, OPAQUE + blob];
}

export function isOpaque(line: string): boolean {
  return line.length === OPAQUE_LENGTH && line.startsWith(OPAQUE);
}

/** The blob's name, if the lines are binary content. */
export function blobOf(lines: Lines): string | undefined {
  const [first, second, third] = lines;
  if (first !== FILE || second === undefined || third !== undefined) return undefined;
  return isOpaque(second) ? second.slice(OPAQUE.length) : undefined;
}

export function isText(lines: Lines): boolean {
  return !lines.some(isOpaque);
}

export function sameLines(one: Lines, other: Lines): boolean {
  return one.length === other.length && one.every((line, i) => line === other[i]);
}

/** Completes a text that was put together from lines. The file exists if there is a line. */
export function completed(lines: Lines): Lines {
  if (lines.length === 0) return lines;
  return terminated([FILE, ...lines.filter((line) => line !== FILE)]);
}

/** Adds missing line ends to all lines but the last: such a line was once the last one. */
export function terminated(lines: Lines): Lines {
  const last = lines.length - 1;
  const isOpen = (line: string, i: number) =>
    i < last && line !== FILE && !line.endsWith("\n") && !isOpaque(line);
  if (!lines.some(isOpen)) return lines;
  const ending = lines.some((line) => line.endsWith("\r\n")) ? "\r\n" : "\n";
  return lines.map((line, i) => (isOpen(line, i) ? line + ending : line));
}
