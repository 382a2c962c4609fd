import { placeBelow } from "../journal/folder";
import { JournalReader } from "../journal/read";
import type { Content, FileChange } from "../journal/record";
import { RecordedProject } from "./recorded-project";
import { callFields, type ToolCall } from "./tool-call";

/** What an edit of a language server made of a file; undefined: the file is not there. */
export interface EditedFile {
  /** Absolute. */
  path: string;
  before: Uint8Array | undefined;
  after: Uint8Array | undefined;
  /** The path that it was moved from. */
  from?: string | undefined;
}

/**
 * Records what one of our own tools changed for Claude, as a change of its last turn. `place`: the
 * project's folder; files that are not below its root are left out. Throws the system's error.
 */
export function recordLanguageEdit(
  place: string,
  id: string,
  call: ToolCall,
  edited: readonly EditedFile[],
): void {
  const project = new RecordedProject(place);
  const files = edited.flatMap((file) => changeOf(project, file));
  if (files.length === 0) return;
  const turn = new JournalReader(project.folder)
    .read()
    .records.findLast((one) => one.type === "prompt" && one.session === call.session);
  const prompt = turn?.type === "prompt" ? turn.prompt : undefined;
  const head = project.head();
  project.append({
    id,
    type: "change",
    ...callFields({ ...call, prompt }),
    source: "tool",
    files,
    ...(head !== undefined && { head }),
  });
}

/** Records that the user has taken such a change back. Throws the system's error. */
export function recordLanguageUndo(
  place: string,
  change: string,
  undone: readonly EditedFile[],
): void {
  const project = new RecordedProject(place);
  const files = undone.flatMap((file) => changeOf(project, file));
  if (files.length === 0) return;
  project.append({
    type: "undo",
    scope: { change, kept: true },
    files: files.map(({ path, before, after }) => ({ path, before, after, undo: "all" })),
  });
}

function changeOf(
  project: RecordedProject,
  { path, before, after, from }: EditedFile,
): FileChange[] {
  const place = placeBelow(project.root, path, true);
  if (place === undefined) return [];
  const moved = from === undefined ? undefined : placeBelow(project.root, from, true);
  const content = (bytes: Uint8Array | undefined): Content =>
    bytes ? project.blobs.put(bytes) : { absent: true };
  return [
    {
      path: place,
      before: content(before),
      after: content(after),
      ...(moved !== undefined && { from: moved }),
    },
  ];
}
