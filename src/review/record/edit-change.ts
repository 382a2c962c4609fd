import { MOST_TEXT_BYTES, sameContent } from "../journal/blobs";
import { pathBelow } from "../journal/folder";
import type { Content, FileChange } from "../journal/record";
import { type FileState, readState } from "./file-state";
import type { KnownContents } from "./known";
import type { RecordedProject } from "./recorded-project";
import { encodeLike, isDoubtful } from "./text";
import type { ToolCall } from "./tool-call";

/** What Edit and Write answer (`originalFile`), and NotebookEdit (`original_file`). */
interface Response {
  type?: unknown;
  originalFile?: unknown;
  original_file?: unknown;
}

/**
 * What one of Claude's editing tools changed: before by its answer, after by the disk. Undefined for a
 * file that is not below the root, and where nothing changed. Throws the system's error.
 */
export function editChange(
  project: RecordedProject,
  known: KnownContents,
  call: ToolCall,
): FileChange | undefined {
  const path = call.path && pathBelow(project.root, call.path, true);
  if (!path) return undefined;
  const state = readState(project, path);
  if (!state) return undefined;
  const after = state.content;
  if ("withheld" in after && after.withheld === "private") return { path, before: after, after };
  const before = contentBefore(project, known, path, call.response as Response | null, state);
  return sameContent(before, after) ? undefined : { path, before, after };
}

function contentBefore(
  project: RecordedProject,
  known: KnownContents,
  path: string,
  response: Response | null | undefined,
  { bytes, stats }: FileState,
): Content {
  // Null is an answer, too.
  const text =
    response?.originalFile === undefined ? response?.original_file : response.originalFile;
  if (typeof text === "string") return bytesBefore(project, known, path, text, bytes);
  // Null for a new file; for an old one only above the CLI's limit, which is ours.
  const isLarge = (stats?.size ?? 0) > MOST_TEXT_BYTES / 2;
  if (text === null && response?.type !== "update" && !isLarge) return { absent: true };
  return known.last(path) ?? { withheld: "unknown" };
}

/** The exact bytes where they are known: the CLI's text has lost its line ends and its encoding. */
function bytesBefore(
  { blobs }: RecordedProject,
  known: KnownContents,
  path: string,
  text: string,
  after: Uint8Array | undefined,
): Content {
  const model = after ?? new Uint8Array();
  const exact = known.shownAs(path, text, isDoubtful(text, model));
  if (exact) return exact;
  if (text.includes("\uFFFD")) return { withheld: "unknown" };
  return blobs.put(encodeLike(text, model));
}
