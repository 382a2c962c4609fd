import { sameContent } from "../blobs";
import type { FileChange } from "../journal/record";
import type { KnownContents } from "./known";
import type { Project } from "./project";
import { callFields } from "./tool-call";

/**
 * Records what a command of Claude's that still runs had changed before another call changed the same
 * files: that call found texts which nobody knows. By the rule of ./compare.ts they are the command's.
 * Throws the system's error.
 */
export function recordRunning(
  project: Project,
  known: KnownContents,
  use: string | undefined,
  changes: readonly FileChange[],
): void {
  const running = changes.length > 0 ? known.running(use) : undefined;
  if (!running) return;
  const files = changes.flatMap(({ path, before: after }) => {
    if ("withheld" in after) return [];
    const before = known.before(path, running) ?? known.last(path);
    return before && !sameContent(before, after) ? [{ path, before, after }] : [];
  });
  if (files.length === 0) return;
  project.append({ type: "change", ...callFields(running.call), source: "trees", files });
}
