import { basename } from "node:path";
import { sameContent } from "../journal/blobs";
import { pathBelow } from "../journal/folder";
import type { Content, FileChange } from "../journal/record";
import { bashEditDiff, bytesBefore, changedByBash, type DiffFile, isLossy } from "./bash-edit-diff";
import { cameAt, type FileState, readState } from "./file-state";
import type { KnownContents } from "./known";
import type { RecordedProject } from "./recorded-project";
import type { ToolCall } from "./tool-call";

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
  if (!before) return "unknown";
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
  // What a line that was not UTF-8 held is nowhere to be found.
  return known.shownAs(path, text) ?? (isLossy(diff) ? undefined : blobs.put(bytes));
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
