import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../../lib/errors";
import { gitFolder } from "../../lib/git-folder";
import { headOf } from "../git/committed";
import { Git, type GitOptions, type GitWork } from "../git/run";
import { type Entries, putting, rawChanges } from "../git/staged";
import type { ReviewedProject } from "../state/reviewed-project";
import { type CommitPlan, git, MOST_MS, named, planned, saidBy } from "./plan";

/** `git commit` would end the first three: with their message, parents or author. The last one keeps it out. */
const IN_PROGRESS = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "index.lock"];
const RAW = ["--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none"];
/** Another git holds the index for a moment. */
const LOCKED_MS = 5_000;
const RETRY_MS = 50;

interface CommitRequest {
  /** Begin the message with the prompts that made the hunks. */
  draft: boolean;
  /** Of buffers with unsaved changes, by path. */
  texts: ReadonlyMap<string, Uint8Array>;
}

export interface Committed {
  /** What git says of the commit: `[main 1a2b3c4] subject`. Undefined if the user left the message unwritten. */
  commit?: string;
  files: number;
  hunks: number;
  /** Sentences for the user. */
  notes: string[];
}

/**
 * Commits all that the user has kept, and nothing else, by `git commit` on an index of its own: hooks, templates and
 * signing are the user's, and `editor` (a shell command) gets the message. The work tree's own index is written
 * once the commit is made, with its entries alone. Throws UserError where nothing is committed.
 */
export async function commitKept(
  project: ReviewedProject,
  { draft, texts }: CommitRequest,
  editor: string,
): Promise<Committed> {
  const { root } = project;
  const folder = gitFolder(root);
  // Without a HEAD git would take the repository around it.
  const runner = folder && existsSync(join(folder, "HEAD")) ? Git.in(root, true) : undefined;
  if (!runner || folder === undefined) throw new UserError(`${root} is in no repository of git's`);
  const begun = IN_PROGRESS.find((name) => existsSync(join(folder, name)));
  if (begun) throw new UserError(`${begun} is there: end that with git first, or abort it`);
  const plan = await runner.run(planned(project, texts), MOST_MS);
  const { hunks, notes } = plan;
  const files = plan.entries.size;
  if (files === 0)
    throw new UserError(["you have kept nothing that is to be committed", ...notes].join("\n"));
  const temporary = mkdtempSync(join(tmpdir(), "claude-code-commit-"));
  try {
    const index = join(temporary, "index");
    if (existsSync(join(folder, "index"))) copyFileSync(join(folder, "index"), index);
    const commit = await runner.run(commitOf(plan, root, { index, draft, editor }), MOST_MS);
    if (commit === undefined) return { files, hunks, notes };
    if (!(await followed(runner, root, plan.tree))) {
      notes.push("git's index could not be written, and is behind the commit: run git reset");
    }
    return { commit, files, hunks, notes };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function* commitOf(
  { head, tree, entries, prompts }: CommitPlan,
  root: string,
  { index, draft, editor }: { index: string; draft: boolean; editor: string },
): GitWork<string | undefined> {
  if (!existsSync(index)) yield* git(["read-tree", tree], { index });
  yield* putEntries(entries, { index });
  const others = [...(yield* stagedSince(tree, { index })).keys()].filter(
    (path) => !entries.has(path),
  );
  if (others.length > 0) {
    throw new UserError(`git would commit ${named(others)}, too, which you have not kept`);
  }
  if ((yield* headOf(root)) !== head) throw new UserError("HEAD has moved just now: commit again");
  const message = draft && prompts.length > 0 ? ["--edit", "--file=-"] : [];
  // What git says is read here; LANGUAGE counts before the locale, and leaves its encoding alone.
  const env = { GIT_EDITOR: editor, LANGUAGE: "en" };
  const input = message.length > 0 ? draftOf(prompts) : "";
  const made = yield { args: ["commit", ...message], index, env, input, ms: MOST_MS };
  if (made.code === 0) return made.stdout.toString().split("\n")[0];
  // Somebody has ended a hook that runs after it.
  if (made.code === null && (yield* headOf(root)) !== head) return "git was ended behind it";
  if (/problem with the editor/.test(made.stderr.toString())) return undefined;
  throw new UserError(`nothing is committed: ${saidBy(made)}`);
}

/** The first line of the first prompt is the subject. */
function draftOf(prompts: readonly string[]): string {
  const [first = "", ...others] = prompts.map((prompt) => prompt.trim());
  const [subject, ...rest] = first.split("\n");
  return [subject, rest.join("\n").trim(), ...others].filter(Boolean).join("\n\n");
}

/**
 * The work tree's index gets the entries of the commit, what hooks have added included; not where the user has
 * staged something else in the meantime. Returns whether git did it.
 */
async function followed(runner: Git, root: string, tree: string): Promise<boolean> {
  for (const end = performance.now() + LOCKED_MS; ; await Bun.sleep(RETRY_MS)) {
    try {
      await runner.run(follow(root, tree), MOST_MS);
      return true;
    } catch {
      if (performance.now() > end) return false;
    }
  }
}

function* follow(root: string, tree: string): GitWork<void> {
  const head = yield* headOf(root);
  const committed = newEntries(yield* git(["diff-tree", "-r", ...RAW, tree, head ?? ""]));
  for (const path of (yield* stagedSince(tree)).keys()) committed.delete(path);
  yield* putEntries(committed);
}

/** What an index, else the work tree's own, has otherwise than a tree. */
function* stagedSince(tree: string, options: GitOptions = {}): GitWork<Entries> {
  const args = ["diff-index", "--cached", "--ita-invisible-in-index", ...RAW, tree];
  return newEntries(yield* git(args, options));
}

function* putEntries(entries: Entries, options: GitOptions = {}): GitWork<void> {
  const { args, input } = putting(entries);
  yield* git(args, { ...options, input });
}

function newEntries(raw: string): Entries {
  return new Map([...rawChanges(raw)].map(([path, { after }]) => [path, after]));
}
