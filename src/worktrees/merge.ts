import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GitWork } from "../review/git/run";
import { isExecutable, isSame, modeOf, type Side } from "./side";

const MERGE_MS = 20_000;
/** git's code for what it cannot merge, as a file that is no text; up to 127 it counts the conflicts. */
const MOST_CONFLICTS = 127;
const NOTHING: Side = { bytes: new Uint8Array(), mode: 0, symlink: false };

/**
 * What a file becomes here by what the worktree `name` changed in it. With a `conflict`, a sentence, it has
 * conflict markers, or is as it was here.
 */
export function* merge(
  { ours, base, theirs }: Record<"ours" | "base" | "theirs", Side | undefined>,
  name: string,
): GitWork<{ after: Side | undefined; conflict?: string }> {
  if (isSame(ours, theirs)) return { after: ours };
  const stays = (conflict: string) => ({ after: ours, conflict });
  if ([ours, base, theirs].some((side) => side?.symlink)) return stays("it is, or was, a symlink");
  if ([base, theirs].some((side) => side && !side.bytes))
    return stays("a filter of git's makes its text, as LFS does");
  if (isSame(ours, base)) return { after: theirs };
  if (!theirs) return stays(`${name} deleted it, and it was changed here`);
  if (!ours) return stays(`${name} changed it, and it was deleted here`);
  const changesMode = !base || isExecutable(theirs) !== isExecutable(base);
  const mode = modeOf(ours, isExecutable(changesMode ? theirs : ours));
  const text = yield* mergeTexts([ours, base ?? NOTHING, theirs], name);
  if (!text) return stays("both changed it, and git merges only texts");
  const what = base ? "both changed the same lines" : "both added it";
  return {
    after: { bytes: text.bytes, mode, symlink: false },
    ...(text.conflicts > 0 && { conflict: what }),
  };
}

/** Undefined where git cannot merge them. */
function* mergeTexts(
  sides: readonly Side[],
  name: string,
): GitWork<{ bytes: Uint8Array; conflicts: number } | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "claude-code-nvim-"));
  try {
    const files = sides.map(({ bytes }, index) => {
      const file = join(folder, String(index));
      writeFileSync(file, bytes ?? "");
      return file;
    });
    const labels = ["here", "branch point", name].flatMap((label) => ["-L", label]);
    const args = ["merge-file", "-p", ...labels, ...files];
    const { code, stdout } = yield { args, ms: MERGE_MS };
    const isMerged = code !== null && code <= MOST_CONFLICTS;
    return isMerged ? { bytes: stdout, conflicts: code } : undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
