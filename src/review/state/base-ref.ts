import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../lib/errors";
import { gitFolder } from "../../lib/git-folder";
import { makePrivateFolder } from "../../lib/private-folder";
import { repositoryAround } from "../git/differing";
import { headOf } from "../git/head";
import { Git, type GitWork } from "../git/run";
import { blobOf, type Lines } from "../weave/lines";
import { ALL } from "../weave/row";
import type { ReviewedProject, View } from "./reviewed-project";

/** A ref of this work tree alone: it is not pushed, and git does not prune what it names. */
export const BASE_REF = "refs/worktree/claude-code/base";

const MOST_MS = 30_000;
const WHO = ["-c", "user.name=claude-code.nvim", "-c", "user.email=claude-code.nvim@localhost"];

interface BaseFile {
  path: string;
  /** The base text; empty for a file that is not there without Claude's changes. */
  lines: Lines;
  mode: "100644" | "100755";
}

/**
 * Makes the ref name a commit on top of HEAD that holds the base texts of all files of the review, so
 * that git plugins can compare with it. The user's index and branches are left alone. Throws
 * UserError.
 */
export async function updateBaseRef(
  project: ReviewedProject,
): Promise<{ ref: string; commit: string }> {
  const git = gitFolder(project.root) === undefined ? undefined : Git.in(project.root);
  const head = await git?.run(headOf(project.root));
  if (!git || !head) {
    throw new UserError(`${project.root} has no git commit to compare with: make one first`);
  }
  makePrivateFolder(project.folder);
  const folder = mkdtempSync(join(project.folder, "base-"));
  try {
    return { ref: BASE_REF, commit: await git.run(makeCommit(project, folder, head), MOST_MS) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function* makeCommit(project: ReviewedProject, folder: string, head: string): GitWork<string> {
  const index = join(folder, "index");
  yield* run(["read-tree", head], index);
  const lines = yield* entries(folder, project, head);
  yield* run(["update-index", "-z", "--index-info"], index, lines);
  const tree = yield* run(["write-tree"], index);
  const text = "What stands here without Claude's changes";
  const commit = yield* run([...WHO, "commit-tree", "-p", head, "-m", text, tree], index);
  yield* run(["update-ref", BASE_REF, commit], index);
  return commit;
}

/** Every exit code counts: a tree of an index that was not written would be another one. */
function* run(args: readonly string[], index: string, input = ""): GitWork<string> {
  const { code, stdout } = yield { args, index, input, ms: MOST_MS };
  if (code !== 0) throw new UserError(`git ${args[0]} failed in this repository (exit ${code})`);
  return stdout.toString().trim();
}

/** The lines of `git update-index --index-info`. */
function* entries(folder: string, project: ReviewedProject, head: string): GitWork<string> {
  const files = baseFiles(project);
  const withCrlf = yield* convertedPaths(files, join(folder, "index"));
  const present = files.filter(({ lines }) => lines.length > 0);
  for (const [i, { path, lines }] of present.entries()) {
    const bytes = project.contents.bytes(lines) ?? new Uint8Array();
    const isConverted = withCrlf.has(path) && blobOf(lines) === undefined;
    writeFileSync(join(folder, `${i}`), isConverted ? withoutCr(bytes) : bytes, { mode: 0o600 });
  }
  const paths = present.map((_, i) => `${join(folder, `${i}`)}\n`).join("");
  const args = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
  const ids =
    present.length > 0 ? (yield* run(args, join(folder, "index"), paths)).split("\n") : [];
  const kept = present.map(({ path, mode }, i) => `${mode} ${ids[i]}\t${path}\0`);
  const gone = files
    .filter(({ lines }) => lines.length === 0)
    .map(({ path }) => `0 ${"0".repeat(head.length)}\t${path}\0`);
  return [...gone, ...kept].join("");
}

function baseFiles(project: ReviewedProject): BaseFile[] {
  return [...project.files.values()].flatMap((file): BaseFile[] => {
    const view = project.view(file);
    // git knows an inner repository as one entry, if at all.
    if (!view || file.symlink || repositoryAround(project.root, file.path) !== "") return [];
    const lines = view.weave.base(ALL);
    return project.contents.bytes(lines) ? [{ path: file.path, lines, mode: modeOf(view) }] : [];
  });
}

function modeOf({ mode = 0 }: View): BaseFile["mode"] {
  return mode & 0o100 ? "100755" : "100644";
}

/** Those that a checkout writes with CRLF where git keeps LF. */
function* convertedPaths(files: readonly BaseFile[], index: string): GitWork<Set<string>> {
  const paths = files.map(({ path }) => path);
  const args = ["--literal-pathspecs", "ls-files", "--eol", "-z", "--", ...paths];
  const found = paths.length > 0 ? yield* run(args, index) : "";
  const converted = found.split("\0").flatMap((line) => {
    const [, path] = /^i\/lf +w\/crlf +[^\t]*\t(.*)$/s.exec(line) ?? [];
    return path ?? [];
  });
  return new Set(converted);
}

function withoutCr(bytes: Uint8Array): Buffer {
  return Buffer.from(Buffer.from(bytes).toString("latin1").replaceAll("\r\n", "\n"), "latin1");
}
