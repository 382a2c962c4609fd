import { join } from "node:path";
import { run } from "../../claude/cli";
import { Failure, message as reason } from "../../lib/errors";
import { stateFolder } from "../../lib/paths";
import { beginning, visible, visibleLine } from "../../lib/visible";
import { Git, type GitWork } from "../git/run";
import { Privacy } from "../record/privacy";
import { git } from "./plan";

/** Some 25,000 tokens. What is cut off is still in the list of files. */
const MAX_DIFF_BYTES = 100_000;
const MAX_FILES = 1_000;
const MAX_MESSAGE = 10_000;
const MAX_REASON = 300;
const MAX_MS = 120_000;

/** No hooks, plugins and MCP servers, ours included, no tools, and no conversation in anybody's list (2.1.330). */
const FLAGS = ["-p", "--safe-mode", "--strict-mcp-config", "--tools=", "--no-session-persistence"];
const ASK = `Write the message of the git commit with the changes below: a subject of at most 72 characters and, if \
it does not say it all, an empty line and a body. Follow the style of the last subjects, which come first. Reply with \
the message alone, as plain text.`;

/** A commit whose message the user writes. */
export interface OpenCommit {
  /** The repository's folder. */
  root: string;
  /** HEAD's tree. */
  tree: string;
  /** The commit's own. */
  index: string;
  /** Once git has ended. */
  signal: AbortSignal;
}

/**
 * Asks Claude for the message of a commit. It receives what is committed, but for private files, and nothing else. It
 * runs outside of the project, whose settings nobody may have looked at. `env`: variables of the user's. Throws
 * Failure.
 */
export async function messageFor(
  commit: OpenCommit,
  { command, env }: { command: string[]; env: Record<string, string> },
): Promise<string> {
  const stdin = Buffer.from(`${ASK}\n\n${await Git.in(commit.root)?.run(diffOf(commit))}`);
  const options = { cwd: stateFolder(), env, stdin, timeout: MAX_MS, signal: commit.signal };
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
  // As a pathspec, the name of a file that a folder has replaced stands for all that is in the folder.
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
