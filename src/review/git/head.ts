import { headCommit } from "../../lib/git-folder";
import { type GitWork, outputOf } from "./run";

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

/**
 * What is compared with HEAD: the commit, or before the first one the empty tree, whose name depends on how the
 * repository names objects. Undefined where git fails.
 */
export function* treeOf(head: string | null): GitWork<string | undefined> {
  return head ?? (yield* outputOf("hash-object", "-t", "tree", "--stdin"));
}
