import { join } from "node:path";
import * as v from "valibot";
import { sameContent } from "../journal/blobs";
import { pathBelow } from "../journal/folder";
import type { Content, FileChange } from "../journal/record";
import { type FileState, readState } from "./file-state";
import type { KnownContents } from "./known";
import type { RecordedProject } from "./recorded-project";
import { type Hunk, reverse } from "./reverse";
import { showsAs } from "./text";
import type { ToolCall } from "./tool-call";

const Lines = v.pipe(v.number(), v.integer(), v.minValue(0));
const DiffFile = v.object({
  filePath: v.string(),
  hunks: v.array(
    v.object({
      oldStart: Lines,
      oldLines: Lines,
      newStart: Lines,
      newLines: Lines,
      lines: v.array(v.string()),
    }),
  ),
  created: v.optional(v.boolean()),
  deleted: v.optional(v.boolean()),
});
type DiffFile = v.InferOutput<typeof DiffFile>;

/**
 * What the CLI says that a Bash command changed, with `bashEditDiffEnabled` (measured with 2.1.330):
 * hunks of at most 5 files, at most 200 paths, nothing of names that are not UTF-8 or hold line ends.
 */
const BashEditDiff = v.object({
  files: v.optional(v.array(v.unknown()), []),
  changedFiles: v.optional(v.array(v.string()), []),
  moreFiles: v.optional(v.number(), 0),
  unavailable: v.optional(v.unknown()),
  skipped: v.optional(v.unknown()),
  shared: v.optional(v.unknown()),
});
type BashEditDiff = v.InferOutput<typeof BashEditDiff>;

export interface BashChanges {
  files: FileChange[];
  /** Not everything is in `files`: the work tree must be compared. */
  isCut: boolean;
  incomplete?: string;
}

/** Undefined where the CLI says nothing. */
export function bashEditDiff(response: unknown): BashEditDiff | undefined {
  const diff = (response as { bashEditDiff?: unknown } | null | undefined)?.bashEditDiff;
  const result = v.safeParse(BashEditDiff, diff);
  return result.success ? result.output : undefined;
}

/** The absolute paths that a Bash command changed, by the CLI's own account. */
export function changedByBash(response: unknown): string[] {
  const diff = bashEditDiff(response);
  return diff
    ? [...new Set([...diff.changedFiles, ...filesOf(diff).map((file) => file.filePath)])]
    : [];
}

/** What a Bash command changed below the root. Throws the system's error. */
export function bashChanges(
  project: RecordedProject,
  known: KnownContents,
  { response, use }: ToolCall,
): BashChanges | undefined {
  const diff = bashEditDiff(response);
  if (!diff) return undefined;
  const hunks = new Map(filesOf(diff).map((file) => [file.filePath, file]));
  const files = changedByBash(response).map((path) =>
    fileChange(project, known, path, { diff: hunks.get(path), use }),
  );
  const found = files.filter((file): file is FileChange => typeof file === "object");
  const unseen = diff.moreFiles + hunks.size - diff.changedFiles.length;
  return {
    files: withRenames(found),
    isCut: Boolean(diff.unavailable || diff.skipped || unseen > 0 || files.includes("unknown")),
    ...(diff.shared
      ? {
          incomplete: "Other commands ran at the same time: some of these changes may be theirs.",
        }
      : {}),
  };
}

function filesOf(diff: BashEditDiff): DiffFile[] {
  return diff.files.filter((file) => v.is(DiffFile, file));
}

/** "unknown": it changed, and what it held before is not known. */
function fileChange(
  project: RecordedProject,
  known: KnownContents,
  absolute: string,
  { diff, use }: { diff: DiffFile | undefined; use: string | undefined },
): FileChange | "unknown" | undefined {
  const path = pathBelow(project.root, absolute);
  const state =
    path === undefined
      ? undefined
      : readState(join(project.root, path), project.blobs, project.privacy);
  if (!path || !state) return undefined;
  const after = state.content;
  const symlink = state.symlink ? { symlink: true } : {};
  if (project.privacy.isPrivate(absolute)) {
    const withheld: Content = { withheld: "private" };
    return { path, before: withheld, after: "absent" in after ? after : withheld, ...symlink };
  }
  const last = () => known.last(path, use);
  const before = diff ? byHunks(project, known, path, { diff, state, last }) : last();
  if (!before) return "unknown";
  if (sameContent(before, after)) return undefined;
  const mode = "absent" in after ? known.mode(path) : undefined;
  return { path, before, after, ...symlink, ...(mode && { mode: [mode, 0] }) };
}

function byHunks(
  { blobs }: RecordedProject,
  known: KnownContents,
  path: string,
  { diff, state, last }: { diff: DiffFile; state: FileState; last: () => Content | undefined },
): Content | undefined {
  if (diff.created) return { absent: true };
  const now = diff.deleted ? new Uint8Array() : state.bytes;
  const bytes = now && reverse(now, diff.hunks as Hunk[]);
  // They do not fit: it has changed again since.
  if (!bytes) return last();
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  for (const candidate of known.candidates(path)) {
    const before = blobs.bytes(candidate);
    if (before && showsAs(before, text)) return candidate;
  }
  // What a line that was not UTF-8 held is nowhere to be found.
  return isLossy(diff) ? undefined : blobs.put(bytes);
}

function isLossy({ hunks }: DiffFile): boolean {
  return hunks.some(({ lines }) => lines.some((line) => /^-.*\uFFFD/.test(line)));
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
