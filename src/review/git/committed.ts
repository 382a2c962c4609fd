import type { GitWork } from "./run";

export interface CommittedFile {
  mode: number;
  symlink: boolean;
  /** As a checkout would write it. Undefined where a filter driver (LFS) would make it, or it is missing. */
  bytes: Uint8Array | undefined;
}

const MOST_PATHS_AT_ONCE = 500;
const SYMLINK = 0o120000;

/**
 * The files at `paths` in a commit, by path; those that it does not have are left out. Undefined where
 * git fails.
 */
export function* committedFiles(
  commit: string,
  paths: readonly string[],
): GitWork<Map<string, CommittedFile> | undefined> {
  const files = new Map<string, CommittedFile>();
  for (let from = 0; from < paths.length; from += MOST_PATHS_AT_ONCE) {
    const some = paths.slice(from, from + MOST_PATHS_AT_ONCE);
    const args = ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", ...some];
    const tree = yield { args };
    if (tree.code !== 0) return undefined;
    const filtered = yield* filteredPaths(some);
    for (const line of tree.stdout.toString().split("\0")) {
      const [, mode, type, id, path] = /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(line) ?? [];
      if (type !== "blob" || mode === undefined || id === undefined || path === undefined) continue;
      const bits = Number.parseInt(mode, 8);
      const symlink = (bits & 0o170000) === SYMLINK;
      const bytes = filtered?.has(path) === false ? yield* blob(id, path, symlink) : undefined;
      files.set(path, { mode: bits & 0o777, symlink, bytes });
    }
  }
  return files;
}

function* blob(id: string, path: string, symlink: boolean): GitWork<Uint8Array | undefined> {
  const how = symlink ? ["blob", id] : ["--filters", `--path=${path}`, id];
  const { code, stdout } = yield { args: ["cat-file", ...how] };
  return code === 0 ? stdout : undefined;
}

/** Those whose text a filter driver makes: without it the text of the commit is another one. */
function* filteredPaths(paths: readonly string[]): GitWork<Set<string> | undefined> {
  const input = paths.map((path) => `${path}\0`).join("");
  const { code, stdout } = yield { args: ["check-attr", "-z", "--stdin", "filter"], input };
  if (code !== 0) return undefined;
  const fields = stdout.toString().split("\0");
  const filtered = new Set<string>();
  for (let i = 0; i + 2 < fields.length; i += 3) {
    const value = fields[i + 2] ?? "";
    if (value !== "unspecified" && value !== "unset") filtered.add(fields[i] ?? "");
  }
  return filtered;
}
