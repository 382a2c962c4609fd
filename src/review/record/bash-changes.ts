import * as v from "valibot";
import { basename } from "../../lib/platform";
import { sameContent } from "../journal/blobs";
import { pathBelow } from "../journal/folder";
import type { Content, FileChange } from "../journal/record";
import { cameAt, readState } from "./file-state";
import type { KnownContents } from "./known";
import type { RecordedProject, ToolCall } from "./recorded-project";

const SHARED = "Other commands ran at the same time: some of these changes may be theirs.";

/** The clocks of hooks and of the file system may differ by this much. */
const CLOCKS_MS = 1_000;

/**
 * Returns the changes that a Bash command made below the root, as the CLI reports them. The comparison of the work tree
 * (./compare.ts) finds the rest. We need both: the CLI separates concurrent commands and knows texts that were never
 * committed or recorded, but it limits the number of files, depends on an undocumented setting, and omits commands that
 * failed or continue in the background. Throws the system's error.
 */
export function bashChanges(
  project: RecordedProject,
  known: KnownContents,
  { response, use }: ToolCall,
  began: number | undefined,
) {
  const diff = bashEditDiff(response);
  if (!diff) return undefined;
  const created = new Map(diff.files.map((file) => [file.filePath, file.created]));
  const paths = changedByBash(response);
  const files = paths.map((path) => fileChange(project, known, path, use, created.get(path)));
  // The CLI also reports files as new that git no longer ignores.
  const since = paths.some((path) => basename(path) === ".gitignore") ? (began ?? 0) : 0;
  const isNew = ({ path, before }: FileChange) =>
    !("absent" in before) || cameAt(project.root, path) > since - CLOCKS_MS;
  const found = files.filter((file) => typeof file === "object").filter(isNew);
  const unseen = diff.moreFiles + created.size - diff.changedFiles.length;
  return {
    files: withRenames(found),
    // `files` is incomplete, so the work tree must be compared.
    isCut: Boolean(diff.unavailable || diff.skipped || unseen > 0 || files.includes("unknown")),
    incomplete: diff.shared ? SHARED : undefined,
  };
}

/** Returns "unknown" if the file changed and its earlier content is unknown. */
function fileChange(
  project: RecordedProject,
  known: KnownContents,
  absolute: string,
  use: string | undefined,
  isCreated = false,
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
  const before: Content | undefined = isCreated ? { absent: true } : known.last(path, use);
  // A comparison may still know the content.
  if (!before && project.isRepository && !known.isBlind) return "unknown";
  if (!before) return { path, before: { withheld: "unknown" }, after, symlink };
  if (sameContent(before, after)) return undefined;
  const mode = "absent" in after ? known.mode(path) : undefined;
  return { path, before, after, symlink, mode: mode ? [mode, 0] : undefined };
}

/** Pairs each created file with a deleted file of the same bytes: it was moved. */
export function withRenames(files: readonly FileChange[]): FileChange[] {
  const deleted = new Map<string, string>();
  for (const { path, before, after } of files) {
    if ("absent" in after && "blob" in before) deleted.set(before.blob, path);
  }
  return files.map((file) => {
    const blob = "absent" in file.before && "blob" in file.after ? file.after.blob : "";
    const from = deleted.get(blob);
    deleted.delete(blob);
    return from === undefined ? file : { ...file, from };
  });
}

const DiffFile = v.object({ filePath: v.string(), created: v.optional(v.boolean()) });

/**
 * The CLI's report on a Bash command, with the setting `bashEditDiffEnabled` (measured with 2.1.330): hunks of at most
 * 5 files and at most 200 paths, without names that are not UTF-8 or contain line ends.
 */
const BashEditDiff = v.object({
  /** Drops malformed entries. */
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

/** Undefined if the CLI reports nothing. */
export function bashEditDiff(response: unknown) {
  const diff = (response as { bashEditDiff?: unknown } | null | undefined)?.bashEditDiff;
  const result = v.safeParse(BashEditDiff, diff);
  return result.success ? result.output : undefined;
}

/** The absolute paths that a Bash command changed, as the CLI reports them. */
export function changedByBash(response: unknown): string[] {
  const diff = bashEditDiff(response);
  const paths = diff && [...diff.changedFiles, ...diff.files.map(({ filePath }) => filePath)];
  return [...new Set(paths)];
}
