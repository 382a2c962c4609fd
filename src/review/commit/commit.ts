import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../lib/errors";
import { gitFolder } from "../../lib/git-folder";
import { makePrivateFolder } from "../../lib/private-folder";
import { headOf } from "../git/head";
import { Git, type GitWork } from "../git/run";
import type { ReviewedProject } from "../state/reviewed-project";
import { type CommitPlan, EMPTY_TREE, git, MOST_MS, planned, saidBy } from "./plan";

/** `git commit` would end these: with their message, parents or author. */
const IN_PROGRESS = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
/** Another git holds the index for a moment. */
const LOCKED_MS = 5_000;
const RETRY_MS = 50;
/** Of the user's environment these count, as in their shell. */
const PERSON = /^GIT_(AUTHOR|COMMITTER)_/;

export interface CommitRequest {
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
  const runner = folder === undefined ? undefined : Git.asUser(root);
  if (!runner || folder === undefined) throw new UserError(`${root} is in no repository of git's`);
  const begun = IN_PROGRESS.find((name) => existsSync(join(folder, name)));
  if (begun) throw new UserError(`${begun} is there: end that with git first, or abort it`);
  const plan = await runner.run(planned(project, texts), MOST_MS);
  const { files, hunks, notes } = plan;
  if (files === 0)
    throw new UserError(["you have kept nothing that is to be committed", ...notes].join("\n"));
  makePrivateFolder(project.folder);
  const temporary = mkdtempSync(join(project.folder, "commit-"));
  try {
    const index = join(temporary, "index");
    if (existsSync(join(folder, "index"))) copyFileSync(join(folder, "index"), index);
    const commit = await runner.run(commitOf(plan, root, { index, draft, editor }), MOST_MS);
    if (commit === undefined) return { files, hunks, notes };
    if (!(await followed(runner, root, plan.head))) {
      notes.push("git's index could not be written, and is behind the commit: run git reset");
    }
    return { commit, files, hunks, notes };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function* commitOf(
  { head, entries, prompts }: CommitPlan,
  root: string,
  { index, draft, editor }: { index: string; draft: boolean; editor: string },
): GitWork<string | undefined> {
  if (!existsSync(index)) yield* git(["read-tree", head ?? "--empty"], { index });
  yield* git(["update-index", "-z", "--index-info"], { index, input: entries });
  if ((yield* headOf(root)) !== head) throw new UserError("HEAD has moved just now: commit again");
  const message = draft && prompts.length > 0 ? ["--edit", "--file=-"] : [];
  const person = Object.entries(process.env).filter(([name]) => PERSON.test(name));
  // What git says is read here; LANGUAGE counts before the locale, and leaves its encoding alone.
  const env = { ...Object.fromEntries(person), GIT_EDITOR: editor, LANGUAGE: "en" };
  const input = message.length > 0 ? draftOf(prompts) : "";
  const made = yield { args: ["commit", ...message], index, env, input, ms: MOST_MS };
  if (made.code === 0) return made.stdout.toString().split("\n")[0];
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
async function followed(runner: Git, root: string, before: string | null): Promise<boolean> {
  const tree = before ?? EMPTY_TREE;
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
  const raw = ["--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none"];
  const committed = entriesOf(yield* git(["diff-tree", "-r", ...raw, tree, head ?? ""]));
  const staged = new Map(entriesOf(yield* git(["diff-index", "--cached", ...raw, tree])));
  const entries = committed.filter(([path]) => !staged.has(path));
  const input = entries.map(([path, entry]) => `${entry}\t${path}\0`).join("");
  yield* git(["update-index", "-z", "--index-info"], { input });
}

/** Of `--raw -z`: `:MODE MODE BLOB BLOB STATUS`, and the path. */
function entriesOf(raw: string): [path: string, entry: string][] {
  const fields = raw.split("\0");
  return fields.slice(0, -1).flatMap((field, i) => {
    const [, mode, , blob] = field.split(" ");
    return i % 2 === 0 ? [[fields[i + 1] ?? "", `${mode} ${blob}`] as [string, string]] : [];
  });
}
