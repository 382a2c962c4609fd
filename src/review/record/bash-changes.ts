import { basename } from "node:path";
import * as v from "valibot";
import { sameContent } from "../journal/blobs";
import { pathBelow } from "../journal/folder";
import type { Content, FileChange } from "../journal/record";
import { linesOf } from "../weave/lines";
import { cameAt, type FileState, readState } from "./file-state";
import type { KnownContents } from "./known";
import type { RecordedProject, ToolCall } from "./recorded-project";

const SHARED = "Other commands ran at the same time: some of these changes may be theirs.";

/** So much may the clocks of the hooks and of the file system differ. */
const CLOCKS_MS = 1_000;

/**
 * What a Bash command changed below the root, by the CLI's own account; what it leaves out the comparison
 * of the work tree finds (./compare.ts). Both are needed: this one separates commands that ran at the
 * same time, and knows texts that were never committed nor seen before; but it is cut at some files,
 * behind a setting whose form nobody promised, and says nothing of commands that failed or went on in
 * the background. Throws the system's error.
 */
export function bashChanges(
  project: RecordedProject,
  known: KnownContents,
  { response, use }: ToolCall,
  began: number | undefined,
) {
  const diff = bashEditDiff(response);
  if (!diff) return undefined;
  const hunks = new Map(diff.files.map((file) => [file.filePath, file]));
  const paths = changedByBash(response);
  const files = paths.map((path) =>
    fileChange(project, known, path, { diff: hunks.get(path), use }),
  );
  // To the CLI a file is new that git does not ignore any more.
  const since = paths.some((path) => basename(path) === ".gitignore") ? (began ?? 0) : 0;
  const isNew = ({ path, before }: FileChange) =>
    !("absent" in before) || cameAt(project.root, path) > since - CLOCKS_MS;
  const found = files.filter((file) => typeof file === "object").filter(isNew);
  const unseen = diff.moreFiles + hunks.size - diff.changedFiles.length;
  return {
    files: withRenames(found),
    // Not everything is in `files`: the work tree must be compared.
    isCut: Boolean(diff.unavailable || diff.skipped || unseen > 0 || files.includes("unknown")),
    incomplete: diff.shared ? SHARED : undefined,
  };
}

/** "unknown": it changed, and what it held before is not known. */
function fileChange(
  project: RecordedProject,
  known: KnownContents,
  absolute: string,
  { diff, use }: { diff: DiffFile | undefined; use: string | undefined },
): FileChange | "unknown" | undefined {
  const path = pathBelow(project.root, absolute);
  const state = path === undefined ? undefined : readState(project, path);
  if (!path || !state) return undefined;
  const after = state.content;
  const symlink = state.symlink || undefined;
  if (project.privacy.isPrivate(absolute)) {
    const withheld: Content = { withheld: "private" };
    return { path, before: withheld, after: "absent" in after ? after : withheld, symlink };
  }
  const last = () => known.last(path, use);
  const before = diff ? byHunks(project, known, path, { diff, state, last }) : last();
  // A comparison may still know it.
  if (!before && project.isRepository && !known.isBlind) return "unknown";
  if (!before) return { path, before: { withheld: "unknown" }, after, symlink };
  if (sameContent(before, after)) return undefined;
  const mode = "absent" in after ? known.mode(path) : undefined;
  return { path, before, after, symlink, mode: mode ? [mode, 0] : undefined };
}

function byHunks(
  { blobs }: RecordedProject,
  known: KnownContents,
  path: string,
  { diff, state, last }: { diff: DiffFile; state: FileState; last: () => Content | undefined },
): Content | undefined {
  if (diff.created) return { absent: true };
  const now = diff.deleted ? new Uint8Array() : state.bytes;
  const bytes = now && bytesBefore(now, diff);
  // They do not fit: it has changed again since.
  if (!bytes) return last();
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  // The bytes of some lines are nowhere to be found.
  return known.shownAs(path, text) ?? (isLossy(diff, now) ? undefined : blobs.put(bytes));
}

/** A file that was created with the bytes of one that was deleted was moved. */
export function withRenames(files: readonly FileChange[]): FileChange[] {
  const deleted = new Map<string, string>();
  for (const { path, before, after } of files) {
    if ("absent" in after && "blob" in before) deleted.set(before.blob, path);
  }
  return files.map((file) => {
    const isCreated = "absent" in file.before && "blob" in file.after;
    const from = isCreated ? deleted.get((file.after as { blob: string }).blob) : undefined;
    if (from === undefined) return file;
    deleted.delete((file.after as { blob: string }).blob);
    return { ...file, from };
  });
}

const Lines = v.pipe(v.number(), v.integer(), v.minValue(0));
const DiffFile = v.object({
  filePath: v.string(),
  hunks: v.array(
    v.object({
      oldStart: Lines,
      oldLines: Lines,
      newStart: Lines,
      newLines: Lines,
      /** Each with " ", "-", "+" or a backslash in front, without its line end (npm `diff`). */
      lines: v.array(v.string()),
    }),
  ),
  created: v.optional(v.boolean()),
  deleted: v.optional(v.boolean()),
});
type DiffFile = v.InferOutput<typeof DiffFile>;

/**
 * The CLI's own account of what a Bash command changed, with `bashEditDiffEnabled` (measured with 2.1.330):
 * hunks of at most 5 files, at most 200 paths, nothing of names that are not UTF-8 or hold line ends.
 */
const BashEditDiff = v.object({
  /** Those that are as expected. */
  files: v.pipe(
    v.optional(v.array(v.unknown()), []),
    v.transform((files) => files.filter((file) => v.is(DiffFile, file))),
  ),
  changedFiles: v.optional(v.array(v.string()), []),
  moreFiles: v.optional(v.number(), 0),
  unavailable: v.optional(v.unknown()),
  skipped: v.optional(v.unknown()),
  shared: v.optional(v.unknown()),
});
type BashEditDiff = v.InferOutput<typeof BashEditDiff>;

/** Undefined where the CLI says nothing. */
export function bashEditDiff(response: unknown): BashEditDiff | undefined {
  const diff = (response as { bashEditDiff?: unknown } | null | undefined)?.bashEditDiff;
  const result = v.safeParse(BashEditDiff, diff);
  return result.success ? result.output : undefined;
}

/** The absolute paths that a Bash command changed, by the CLI's own account. */
export function changedByBash(response: unknown): string[] {
  const diff = bashEditDiff(response);
  const paths = diff && [...diff.changedFiles, ...diff.files.map(({ filePath }) => filePath)];
  return [...new Set(paths)];
}

/**
 * Does a line come back that was not UTF-8, without the carriage return that others still have, or as the last one,
 * of which the CLI (2.1.330) does not say whether it ended?
 */
function isLossy({ hunks }: DiffFile, now: Uint8Array): boolean {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const lacksCr = now.includes(0x0d) && !lines.some((line) => line.endsWith("\r"));
  const last = hunks.toSorted((a, b) => a.newStart - b.newStart).at(-1);
  const end = last ? last.newStart + last.newLines - (last.newLines > 0 ? 1 : 0) : -1;
  if (end >= linesOf(now).length - 1 && /^[-+]/.test(last?.lines.at(-1) ?? "")) return true;
  return lines.some((line) => line.startsWith("-") && (lacksCr || line.includes("\uFFFD")));
}

const NO_LINE_END = "\\";

/**
 * The bytes before the hunks, made of those after them. Lines that stay keep their bytes, and one that
 * comes back and was not UTF-8 holds U+FFFD; the CLI may have left out its carriage return (2.1.330 does so
 * at times). Undefined where the hunks do not fit the bytes.
 */
function bytesBefore(after: Uint8Array, { hunks }: DiffFile): Uint8Array | undefined {
  const lines = linesOf(after).slice(1);
  const result: string[] = [];
  let at = 0;
  for (const hunk of [...hunks].sort((a, b) => a.newStart - b.newStart)) {
    const start = hunk.newLines === 0 ? Math.min(hunk.newStart, lines.length) : hunk.newStart - 1;
    if (start < at) return undefined;
    result.push(...lines.slice(at, start));
    const end = reverseHunk(hunk, lines, start, result);
    if (end === undefined) return undefined;
    at = end;
  }
  result.push(...lines.slice(at));
  return Buffer.from(result.join(""), "latin1");
}

/** Adds the hunk's old lines to `result`; returns the row after its new ones. */
function reverseHunk(
  hunk: DiffFile["hunks"][number],
  lines: readonly string[],
  start: number,
  result: string[],
): number | undefined {
  let at = start;
  for (const [index, line] of hunk.lines.entries()) {
    const [mark, text] = [line[0], line.slice(1)];
    const endless = hunk.lines[index + 1]?.startsWith(NO_LINE_END) ?? false;
    if (mark === NO_LINE_END) continue;
    if (mark === "-") {
      result.push(Buffer.from(text).toString("latin1") + (endless ? "" : "\n"));
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
