import type { GitWork } from "./run";

/** Entries of git's index, by path: `MODE BLOB`, with mode 0 where there is nothing. */
export type Entries = Map<string, string>;

/** Reads the index at some paths; "" where a merge is not finished. Undefined where git fails. */
export function* stagedAt(paths: readonly string[]): GitWork<Entries | undefined> {
  if (paths.length === 0) return new Map();
  const args = ["--literal-pathspecs", "ls-files", "--stage", "-z", "--full-name", "--", ...paths];
  const { code, stdout } = yield { args };
  const entries: Entries = new Map();
  for (const line of stdout.toString().split("\0")) {
    const [, entry, stage, path] = /^(\d+ \w+) (\d)\t(.*)$/s.exec(line) ?? [];
    if (path !== undefined) entries.set(path, (stage === "0" && entry) || "");
  }
  return code === 0 ? entries : undefined;
}

/** The arguments for git and its input, to put entries into an index. A file makes room for a folder, or gets it. */
export function indexInfo(entries: ReadonlyMap<string, string>) {
  const inOrder = [...entries].sort(
    ([, one], [, other]) => Number(isThere(one)) - Number(isThere(other)),
  );
  const input = inOrder.map(([path, entry]) => `${entry}\t${path}\0`).join("");
  return { args: ["update-index", "-z", "--index-info"], input };
}

function isThere(entry: string): boolean {
  return !/^0+ /.test(entry);
}

/** By path what `git diff-index` and `git diff-tree` print with `--raw -z`. */
export function rawChanges(raw: string) {
  const changes = new Map<string, { before: string; after: string; status: string }>();
  const fields = raw.split("\0");
  for (let i = 0; i + 1 < fields.length; i += 2) {
    // `:MODE MODE BLOB BLOB STATUS`, and the path.
    const [, mode, modeNow, blob, blobNow, status = ""] = (fields[i] as string).split(/[: ]/);
    const change = { before: `${mode} ${blob}`, after: `${modeNow} ${blobNow}`, status };
    changes.set(fields[i + 1] as string, change);
  }
  return changes;
}
