import { headCommit } from "../../lib/git-folder";
import { type GitWork, outputOf } from "./run";

/** HEAD's commit; null before the first commit. Undefined if git fails, which must not count as having no commit. */
export function* headOf(root: string): GitWork<string | null | undefined> {
  const head = headCommit(root);
  if (head !== undefined) return head;
  const { code, stdout } = yield { args: ["rev-parse", "-q", "--verify", "HEAD"] };
  if (code === 0) return stdout.toString().trim();
  return code === 1 ? null : undefined;
}

/**
 * The tree to compare with: HEAD's commit, or before the first commit the empty tree, whose hash depends on the
 * repository's hash algorithm. Undefined if git fails.
 */
export function* treeOf(head: string | null): GitWork<string | undefined> {
  return head ?? (yield* outputOf("hash-object", "-t", "tree", "--stdin"));
}

export interface CommittedFile {
  mode: number;
  blob?: string;
  symlink: boolean;
  /**
   * The content that a checkout would write, or that the work tree had; for a symlink, its target. Undefined if git lacks
   * the content, or a filter driver (LFS) would produce it and we do not know the work tree's content.
   */
  bytes: Uint8Array | undefined;
}

const MAX_PATHS_AT_ONCE = 500;
const MAX_MS = 10_000;
const SYMLINK = 0o120000;

/**
 * Reads the files at `paths` that a commit has, by path. With `index`, a copy that git has refreshed, a clean file has
 * the bytes that it had in the work tree then: git also considers a file clean that has other line ends or another
 * encoding, or to which a filter applies. Undefined if git fails.
 */
export function* committedFiles(
  commit: string,
  paths: readonly string[],
  index?: string,
): GitWork<Map<string, CommittedFile> | undefined> {
  const files = new Map<string, CommittedFile>();
  for (let from = 0; from < paths.length; from += MAX_PATHS_AT_ONCE) {
    const some = paths.slice(from, from + MAX_PATHS_AT_ONCE);
    const args = ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", ...some];
    const tree = yield { args };
    if (tree.code !== 0) return undefined;
    const filtered = yield* filteredPaths(some, index === undefined ? ["filter"] : CHANGING);
    const sizes = index === undefined ? undefined : yield* sizesIn(index, some);
    const blobs: Blob[] = [];
    for (const line of tree.stdout.toString().split("\0")) {
      const [, mode, type, id, path] = /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(line) ?? [];
      if (type !== "blob" || mode === undefined || id === undefined || path === undefined) continue;
      const bits = Number.parseInt(mode, 8);
      const symlink = (bits & 0o170000) === SYMLINK;
      if (filtered?.has(path) === false) blobs.push({ id, path, symlink });
      files.set(path, { mode: bits & 0o777, blob: id, symlink, bytes: undefined });
    }
    const texts = yield* textsOf(blobs);
    for (const blob of blobs) {
      const file = files.get(blob.path) as CommittedFile;
      const bytes = texts.get(blob) ?? (yield* textOf(blob));
      const { id, size } = sizes?.get(blob.path) ?? {};
      const onDisk = bytes && id === blob.id ? withSize(bytes, size) : undefined;
      file.bytes = sizes && !blob.symlink ? onDisk : bytes;
    }
  }
  return files;
}

interface Blob {
  id: string;
  path: string;
  symlink: boolean;
}

/** Reads blobs by one command, except symlinks and paths with line ends. Empty if one is missing, or at a limit. */
function* textsOf(all: readonly Blob[]): GitWork<Map<Blob, Uint8Array>> {
  const blobs = all.filter(({ symlink, path }) => !symlink && !path.includes("\n"));
  if (blobs.length === 0) return new Map();
  // We cannot use the sizes that git prints: they are those before it converts line ends.
  const mark = crypto.randomUUID();
  const input = blobs.map(({ id, path }) => `${id} ${path}\n`).join("");
  const args = ["cat-file", "--filters", `--batch=${mark}`];
  const { code, stdout } = yield { args, input, ms: MAX_MS };
  const texts: Uint8Array[] = [];
  for (let at = 0; at < stdout.length; ) {
    const next = stdout.indexOf(mark, at + mark.length);
    const end = next === -1 ? stdout.length : next;
    texts.push(stdout.subarray(at + mark.length + 1, end - 1));
    at = end;
  }
  const isAll = code === 0 && stdout.indexOf(mark) === 0 && texts.length === blobs.length;
  return new Map(isAll ? blobs.map((blob, i) => [blob, texts[i] as Uint8Array]) : []);
}

function* textOf({ id, path, symlink }: Blob): GitWork<Uint8Array | undefined> {
  const how = symlink ? ["blob", id] : ["--filters", `--path=${path}`, id];
  const { code, stdout } = yield { args: ["cat-file", ...how] };
  return code === 0 ? stdout : undefined;
}

/** The blobs of files in an index, and their sizes in the work tree, by path. Without paths, those of all files. */
export function* sizesIn(
  index: string,
  paths: readonly string[],
): GitWork<Map<string, { id: string; size: number }>> {
  const args = ["--literal-pathspecs", "ls-files", "--stage", "--debug", "-z", "--full-name", "--"];
  const { stdout } = yield { args: [...args, ...paths], index, ms: MAX_MS };
  const entries = stdout
    .toString()
    .matchAll(/(?:^|\n)\d+ (\w+) 0\t([^\0]*)\0[^\0]*? {2}size: (\d+)/g);
  return new Map(
    [...entries].map(([, id = "", path = "", size]) => [path, { id, size: Number(size) }]),
  );
}

/** Converts all line ends of a text to those with which the text has this size. */
function withSize(bytes: Uint8Array, size: number | undefined): Uint8Array | undefined {
  if (bytes.length === size) return bytes;
  const text = Buffer.from(bytes).toString("latin1").replaceAll("\r\n", "\n");
  const texts = [text, text.replaceAll("\n", "\r\n")];
  const found = texts.find(({ length }) => length === size);
  return found === undefined ? undefined : Buffer.from(found, "latin1");
}

/** A clean file with one of these attributes may have different bytes of the same size. */
const CHANGING = ["filter", "ident", "working-tree-encoding"];

/** The paths that have one of the attributes. */
function* filteredPaths(
  paths: readonly string[],
  attributes: readonly string[],
): GitWork<Set<string> | undefined> {
  const input = paths.map((path) => `${path}\0`).join("");
  const { code, stdout } = yield { args: ["check-attr", "-z", "--stdin", ...attributes], input };
  if (code !== 0) return undefined;
  const fields = stdout.toString().split("\0");
  const filtered = new Set<string>();
  for (let i = 0; i + 2 < fields.length; i += 3) {
    const value = fields[i + 2] ?? "";
    if (value !== "unspecified" && value !== "unset") filtered.add(fields[i] ?? "");
  }
  return filtered;
}

/** Entries of git's index, by path: `MODE BLOB`, with mode 0 for a missing file. */
export type Entries = Map<string, string>;

/** Reads the index at some paths; "" for an unmerged path. Undefined if git fails. */
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

/** Git's arguments and input to put entries into an index. Removals come first: a folder may replace a file. */
export function indexInfo(entries: ReadonlyMap<string, string>) {
  const isRemoval = ([, entry]: [string, string]) => /^0+ /.test(entry);
  const inOrder = [...entries].sort(
    (one, other) => Number(isRemoval(other)) - Number(isRemoval(one)),
  );
  const input = inOrder.map(([path, entry]) => `${entry}\t${path}\0`).join("");
  return { args: ["update-index", "-z", "--index-info"], input };
}

/** Parses the output of `git diff-index` or `git diff-tree` with `--raw -z`, by path. */
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
