import { dirname } from "node:path";
import { type Lock, readLock } from "../ide/lock-file";
import {
  covers,
  type Editor,
  type EditorReport,
  editorsHere,
  type Facts,
  isServing,
} from "./facts";
import { error, type Finding, note, ok, warning } from "./finding";

/** Will a CLI that is started here find a Neovim? */
export function* checkDiscovery(facts: Facts): Generator<Finding> {
  const { cwd, env, locks, editors } = facts;
  const port = env.CLAUDE_CODE_SSE_PORT;
  const chosen = locks.find((lock) => lock.alive && String(lock.port) === port);
  if (port && !chosen) return yield restarted(port);
  const here = editorsHere(editors, cwd);
  // The Neovim itself says why.
  if (!here.every(isServing)) return;
  for (const editor of here) {
    const problem = editorProblem(editor, facts);
    if (problem) return yield problem;
  }
  const matching = locks.filter((lock) => lock.alive && covers(lock.folders, cwd));
  if (matching.length > 1 && !chosen) return yield twoMatch(matching);
  const found = chosen ?? matching[0];
  if (!found) return yield nothingFound(facts);
  yield ok(`a CLI that you start here finds ${nameOf(found)} on port ${found.port}`);
  if (!chosen) yield note("outside of Neovim, type /ide once or start `claude --ide`");
}

function restarted(port: string): Finding {
  const what = `this terminal belongs to a Neovim on port ${port}, which no longer listens`;
  const remedy = "type /ide in the CLI and choose Neovim, or start `claude` in a new terminal";
  return error("editor-restarted", what, remedy);
}

/** A relay's lock file names no process: the editor runs elsewhere. */
function nameOf({ ideName, pid }: Lock): string {
  return pid === undefined ? `a relay of ${ideName}` : `${ideName} ${pid}`;
}

function twoMatch(locks: readonly Lock[]): Finding {
  const list = locks.map((lock) => `${nameOf(lock)} (port ${lock.port})`).join(", ");
  return warning(
    "two-editors-match",
    `${locks.length} editors have this folder open, so a CLI outside of them connects to none of them: ${list}`,
    `start \`claude\` in a terminal of the one you mean, or run \`CLAUDE_CODE_SSE_PORT=${locks[0]?.port} claude\``,
  );
}

function nothingFound({ cwd, locks }: Facts): Finding {
  const others = locks.filter((lock) => lock.alive);
  const elsewhere = others.find((lock) => lock.ideName === "Neovim") ?? others[0];
  if (elsewhere) {
    const folders = elsewhere.folders.join(", ") || "no folder";
    return error(
      "outside-workspace",
      `${cwd} is outside of the workspace of ${nameOf(elsewhere)} (${folders})`,
      `run \`cd ${elsewhere.folders[0] ?? "PROJECT"}\` here, or \`:cd ${cwd}\` there`,
    );
  }
  const open = `open Neovim in ${cwd}; if it is open, :Claude status says why`;
  const [useless] = locks;
  if (!useless) return error("no-editor", "no running Neovim serves Claude here", open);
  const why = useless.problem ?? `it was left by ${nameOf(useless)}, which has ended`;
  const what = `the lock file ${useless.path} cannot be used: ${why}`;
  return error("lock-stale", what, `run \`rm ${useless.path}\`, and ${open}`);
}

const RESTART = "run :ClaudeCodeStop and :ClaudeCodeStart in that Neovim";

/** Is one Neovim fit to be connected to? Undefined if it is. */
function editorProblem({ address, problem, report }: Editor, facts: Facts): Finding | undefined {
  if (report) return lockProblem(report, facts);
  if (problem === "busy") {
    const what = `the Neovim at ${address} does not answer: it is busy or shows a prompt`;
    return error("editor-busy", what, "go there and press <Enter> or CTRL-C");
  }
  const what = `the Neovim at ${address} has not loaded the plugin`;
  const remedy = 'put `require("claude-code").setup({})` into its configuration';
  return error("plugin-not-loaded", what, remedy);
}

function lockProblem(report: EditorReport, { lockFolders }: Facts): Finding | undefined {
  const { pid, lock_file: path, config_dir } = report;
  if (path && !lockFolders.includes(dirname(path))) {
    const what =
      `Neovim ${pid} has its lock file in ${dirname(path)}, ` +
      `but a CLI with this environment looks in ${lockFolders.join(" and ")}`;
    const set = config_dir ? `export CLAUDE_CONFIG_DIR=${config_dir}` : "unset CLAUDE_CONFIG_DIR";
    return error("config-dir-differs", what, `run \`${set}\` before \`claude\``);
  }
  const problem = path ? readLock(path).problem : "missing";
  if (!path || problem) {
    const what = `the lock file ${path ?? ""} of Neovim ${pid} cannot be used: ${problem}`;
    return error("lock-unusable", what, RESTART);
  }
  return undefined;
}
