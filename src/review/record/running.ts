import { sameContent } from "../journal/blobs";
import type { Content } from "../journal/record";
import { KnownContents } from "./known";
import { RecordedProject } from "./recorded-project";
import { callFields } from "./tool-call";

/** A text that was found in a file. */
interface Found {
  path: string;
  content: Content;
}

/**
 * Records what a command of Claude's that still runs has changed so far: the call `use`, or the user,
 * found texts in files that nobody knows, and has changed them. By the rule of ./compare.ts they are
 * the command's. Throws the system's error.
 */
export function recordRunning(
  project: RecordedProject,
  known: KnownContents,
  use: string | undefined,
  found: readonly Found[],
): void {
  const running = found.length > 0 ? known.running(use) : undefined;
  if (!running) return;
  const files = found.flatMap(({ path, content: after }) => {
    if ("withheld" in after) return [];
    const before = known.before(path, running) ?? known.last(path);
    return before && !sameContent(before, after) ? [{ path, before, after }] : [];
  });
  if (files.length === 0) return;
  project.append({ type: "change", ...callFields(running.call), source: "trees", files });
}

/**
 * The same for a text that Neovim has written over, and had not written itself: later it could not be
 * set apart from what the user saved with it. Other events have their turn in between.
 */
export async function recordOverwritten(
  root: string,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const project = new RecordedProject(root);
  const known = new KnownContents(project);
  if (!known.running(undefined)) return;
  await known.lookUp(path);
  recordRunning(project, known, undefined, [{ path, content: project.blobs.put(bytes) }]);
}
