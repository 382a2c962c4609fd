import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { run } from "../../claude/cli";
import { Failure, message as reason } from "../../lib/errors";
import { gitFolder, headCommit } from "../../lib/git-folder";
import { PathWatch } from "../../lib/path-watch";
import { stateFolder } from "../../lib/paths";
import { basename, join } from "../../lib/platform";
import { beginning, counted, visible, visibleLine } from "../../lib/visible";
import { headOf } from "../git/committed";
import { Git, type GitWork } from "../git/run";
import { ensureReviewFolder } from "../journal/folder";
import { Privacy } from "../record/privacy";
import type { ReviewedProject } from "../state/reviewed-project";
import { FOLDER, putEntries, savePending, updateIndex } from "./follow";
import {
  byRepository,
  type CommitPlan,
  errorOf,
  git,
  MAX_MS,
  named,
  planned,
  stagedSince,
} from "./plan";

/** A commit now would become part of a rebase, or would end the others with its own message, parents or author. */
const IN_PROGRESS = {
  "rebase-merge": "a rebase is",
  "rebase-apply": "a rebase, or git am, is",
  MERGE_HEAD: "a merge is",
  CHERRY_PICK_HEAD: "a cherry-pick is",
  REVERT_HEAD: "a revert is",
};

/** A post-commit hook may amend the commit and needs the index for it. We give it this long. */
const QUIET_MS = 1_000;

interface CommitRequest {
  /** The repository's folder, relative to the project's root; "" is the root. */
  folder?: string;
  /** Whether the message begins with the prompts that led to the hunks. */
  draft: boolean;
  /** The text of each buffer with unsaved changes, by path. */
  texts: ReadonlyMap<string, Uint8Array>;
  /** Other projects, which may have kept changes as well. */
  others?: readonly ReviewedProject[];
  /** Called when git begins. Until git ends, Claude can write the message. */
  onOpen?: (commit: OpenCommit) => void;
}

export interface Committed {
  /** Git's report: `[main 1a2b3c4] subject, 1 file changed, …`. Undefined if the user left the message unwritten. */
  commit?: string;
  /** Sentences for the user. */
  notes: string[];
}

/**
 * Commits all changes that the user has kept in one repository, and no others. It runs `git commit` on a separate index,
 * with the user's hooks, templates and signing; `editor` (a shell command) gets the message. After the commit it updates
 * the committed entries of the repository's index. Throws Failure if nothing is committed.
 */
export async function commitKept(
  project: ReviewedProject,
  { folder = "", draft, texts, others = [], onOpen }: CommitRequest,
  editor: string,
): Promise<Committed> {
  const root = join(project.root, folder);
  const gitDir = gitFolder(root);
  // Without a HEAD, git would use the repository around this folder.
  const runner = gitDir && existsSync(join(gitDir, "HEAD")) ? Git.in(root, true) : undefined;
  if (!runner || gitDir === undefined) throw new Failure(`${root} is not in a git repository`);
  const begun = Object.entries(IN_PROGRESS).find(([name]) => existsSync(join(gitDir, name)));
  if (begun) throw new Failure(`${begun[1]} not finished: end it with git, or abort it, first`);
  const lock = join(gitDir, "index.lock");
  if (existsSync(lock)) throw new Failure(`${lock} exists: another git is running, or has left it`);
  const plan = await runner.run(planned(project, folder, texts), MAX_MS);
  const { head, tree, entries, staged, notes } = plan;
  if (plan.users.length > 0) {
    const names = named(plan.users);
    throw new Failure(`git's index differs from HEAD already: commit or unstage ${names} first`);
  }
  // This runs while the user writes the message.
  const elsewhere = keptElsewhere(root, new Set([project, ...others])).catch(() => []);
  if (entries.size === 0) {
    notes.unshift("you have kept nothing that is not committed yet");
    throw new Failure([...notes, ...(await elsewhere)].join("\n"));
  }
  const own = mkdtempSync(join(ensureReviewFolder(project.root), FOLDER));
  const ended = new AbortController();
  try {
    const known = new Map([...staged].map(([name, { after }]) => [name, after]));
    const pending = { root, head, tree, known };
    savePending(own, pending);
    const index = join(own, "index");
    if (existsSync(join(gitDir, "index"))) copyFileSync(join(gitDir, "index"), index);
    onOpen?.({ root, tree, index, signal: ended.signal });
    const made = runner.run(commitOf(plan, root, { index, draft, editor }), MAX_MS);
    // Hooks after the commit may take long, and may amend it. The watch sees HEAD's lock, and then its log.
    const settled = Promise.withResolvers<void>();
    let timer: Timer | undefined;
    const watch = new PathWatch(() => {
      clearTimeout(timer);
      if ((headCommit(root) ?? head) !== head) timer = setTimeout(settled.resolve, QUIET_MS);
    });
    watch.follow([`${gitDir}/`, join(gitDir, "logs/HEAD")]);
    await Promise.race([Promise.allSettled([made]), settled.promise]);
    watch.end();
    clearTimeout(timer);
    await updateIndex(runner, pending);
    const commit = await made;
    if (commit === undefined) return { notes };
    if (!(await updateIndex(runner, pending))) {
      notes.push("git's index could not be written, and is behind the commit: run git reset");
    }
    return { commit, notes: [...notes, ...(await elsewhere)] };
  } finally {
    ended.abort();
    rmSync(own, { recursive: true, force: true });
  }
}

/** Notes for the user about kept changes in repositories other than the one at `here`. */
async function keptElsewhere(here: string, projects: Iterable<ReviewedProject>): Promise<string[]> {
  const notes: string[] = [];
  for (const project of projects) {
    const keeps = project.decisions.filter((one) => one.type === "keep" && one.why !== "home");
    const kept = new Set(keeps.flatMap(({ files }) => files.map(({ path }) => path)));
    for (const [folder, files] of byRepository(project)) {
      const root = join(project.root, folder);
      const git = Git.in(root);
      if (!git || root === here || !files.some(({ path }) => kept.has(path))) continue;
      const plan = await git.run(planned(project, folder, new Map())).catch(() => undefined);
      if (!plan?.hunks) continue;
      const changes = `${counted(plan.hunks, "kept change")} in ${folder || basename(root)}/`;
      const are = plan.hunks === 1 ? "is" : "are";
      notes.push(`${changes} ${are} in another repository: run :Claude commit from a file there`);
    }
  }
  return notes;
}

function* commitOf(
  { head, tree, entries, staged, prompts }: CommitPlan,
  root: string,
  { index, draft, editor }: { index: string; draft: boolean; editor: string },
): GitWork<string | undefined> {
  if (!existsSync(index)) yield* git(["read-tree", tree], { index });
  const before = [...staged].map(([name, change]) => [name, change.before] as const);
  yield* putEntries(new Map([...before, ...entries]), { index });
  const others = [...(yield* stagedSince(tree, { index })).keys()].filter(
    (path) => !entries.has(path),
  );
  if (others.length > 0) {
    throw new Failure(`git would also commit ${named(others)}, which you have not kept`);
  }
  if ((yield* headOf(root)) !== head) throw new Failure("HEAD has moved just now: commit again");
  const message = draft && prompts.length > 0 ? ["--edit", "--file=-"] : [];
  // We parse git's output. LANGUAGE overrides the locale, but not its encoding.
  const env = { GIT_EDITOR: editor, LANGUAGE: "en" };
  const input = message.length > 0 ? draftOf(prompts) : "";
  const made = yield { args: ["commit", ...message], index, env, input, ms: MAX_MS };
  const said = made.stdout.toString();
  if (made.code === 0)
    return [said.split("\n")[0], ...(/^ \d+ files? .*/m.exec(said) ?? [])].join(",");
  // The user ended git during a hook that runs after the commit.
  if (made.code === null && (yield* headOf(root)) !== head) return "git was killed after it";
  if (/problem with the editor/.test(made.stderr.toString())) return undefined;
  throw new Failure(`nothing is committed: ${errorOf(made)}`);
}

/** The first line of the first prompt is the subject. */
function draftOf(prompts: readonly string[]): string {
  const [first = "", ...others] = prompts.map((prompt) => prompt.trim());
  const [subject, ...rest] = first.split("\n");
  return [subject, rest.join("\n").trim(), ...others].filter(Boolean).join("\n\n");
}

/** About 25,000 tokens. The list of files before the diff is complete. */
const MAX_DIFF_BYTES = 100_000;
const MAX_FILES = 1_000;
const MAX_MESSAGE = 10_000;
const MAX_REASON = 300;
const MESSAGE_MS = 120_000;

/** Without hooks, plugins, MCP servers (including ours) and tools, and without a stored conversation (2.1.330). */
const FLAGS = ["-p", "--safe-mode", "--strict-mcp-config", "--tools=", "--no-session-persistence"];
const ASK = `Write the message of the git commit with the changes below: a subject of at most 72 characters and, if \
it does not say it all, an empty line and a body. Follow the style of the last subjects, which come first. Reply with \
the message alone, as plain text.`;

/** A commit whose message the user writes. */
export interface OpenCommit {
  root: string;
  /** HEAD's tree. */
  tree: string;
  /** The path of the commit's index. */
  index: string;
  /** Aborts when git has ended. */
  signal: AbortSignal;
}

/**
 * Asks Claude for a commit message. Claude sees only the commit's diff, without private files, and the last subjects. It
 * runs outside the project, because the project's settings may be untrusted. `env` has the user's variables. Throws
 * Failure.
 */
export async function messageFor(
  commit: OpenCommit,
  { command, env }: { command: string[]; env: Record<string, string> },
): Promise<string> {
  const stdin = Buffer.from(`${ASK}\n\n${await Git.in(commit.root)?.run(diffOf(commit))}`);
  const options = { cwd: stateFolder(), env, stdin, timeout: MESSAGE_MS, signal: commit.signal };
  const ran = run([...command, ...FLAGS], options);
  const { out, err, code } = await ran.catch((error) => ({ out: "", err: reason(error), code: 1 }));
  const text = out.trim().replace(/^```\w*\n(.*)\n```$/s, "$1");
  if (code === 0 && text) return visible(beginning(text, MAX_MESSAGE).replace(/\r\n?/g, "\n"));
  const why = (err || out).trim() || `it ended with ${code ?? "no answer in time"}`;
  throw new Failure(`Claude wrote no message: ${visibleLine(why, MAX_REASON)}`);
}

function* diffOf({ root, tree, index }: OpenCommit): GitWork<string> {
  const cached = ["--literal-pathspecs", "diff-index", "--cached"];
  const changed = yield* git([...cached, "--name-only", "-z", "--no-renames", tree], { index });
  const privacy = new Privacy();
  const hidden: string[] = [];
  const shown: string[] = [];
  for (const name of changed.split("\0").filter(Boolean))
    (privacy.isPrivate(join(root, name)) ? hidden : shown).push(name);
  // If a folder has replaced a file, the file's name as a pathspec matches the whole folder.
  const isWhole = (name: string) => !hidden.some((other) => other.startsWith(`${name}/`));
  const names = shown.slice(0, MAX_FILES).filter(isWhole);
  if (names.length === 0)
    throw new Failure("all files of this commit are private: Claude may not see them");
  const subjects = yield { args: ["log", "-10", "--format=%s"] };
  const how = ["--patch-with-stat", "-M", "--no-ext-diff", "--no-textconv", tree, "--"];
  const args = [...cached, ...how, ...names];
  const { stdout } = yield { args, index, mostBytes: MAX_DIFF_BYTES };
  return `${subjects.stdout}\n${stdout.subarray(0, MAX_DIFF_BYTES)}`;
}
