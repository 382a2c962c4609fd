import { pathBelow } from "../journal/folder";
import { recordsOf } from "../journal/read";
import type { FileChange } from "../journal/record";
import { callFields, RecordedProject, type ToolCall } from "./recorded-project";

/** What an edit of a language server made of a file. */
interface EditedFile {
  /** Absolute. */
  path: string;
  before: Uint8Array;
  after: Uint8Array;
}

/**
 * Records what one of our own tools changed for Claude, as a change of its last turn. `projectFolder`:
 * as Claude Code names it; files that are not below its root are left out. Throws the system's error.
 */
export function recordLanguageEdit(
  projectFolder: string,
  call: ToolCall,
  edited: readonly EditedFile[],
): void {
  const project = new RecordedProject(projectFolder);
  const files = edited.flatMap((file) => changeOf(project, file));
  if (files.length === 0) return;
  const turns = recordsOf(project.folder, "prompt");
  const { prompt } = turns.findLast(({ session }) => session === call.session) ?? {};
  const fields = callFields({ ...call, prompt });
  project.append({ type: "change", ...fields, source: "tool", files, head: project.head() });
}

function changeOf(project: RecordedProject, { path, before, after }: EditedFile): FileChange[] {
  const relativePath = pathBelow(project.root, path, true);
  if (relativePath === undefined) return [];
  const [old, now] = [project.blobs.put(before), project.blobs.put(after)];
  return [{ path: relativePath, before: old, after: now }];
}
