import { headCommit } from "../../lib/git-folder";
import type { GitWork } from "./run";

/**
 * The commit that HEAD names; null before the first one. Undefined where git fails: what nobody knows
 * must not count as absent.
 */
export function* headOf(root: string): GitWork<string | null | undefined> {
  const head = headCommit(root);
  if (head !== undefined) return head;
  const { code, stdout } = yield { args: ["rev-parse", "-q", "--verify", "HEAD"] };
  if (code === 0) return stdout.toString().trim();
  return code === 1 ? null : undefined;
}
