import { ASKING_MODES } from "../claude/names";
import { catchingProxy } from "../claude/proxy";
import { type Lock, readLock } from "../ide/lock-file";
import { message } from "../lib/errors";
import { isObject } from "../lib/json";
import { isExecutable, stablePath } from "../lib/paths";
import { dirname } from "../lib/platform";
import { planInstall } from "../setup/plan";
import { projectAround } from "../setup/record";
import {
  covers,
  type Editor,
  type EditorReport,
  editorsHere,
  type Facts,
  isServing,
} from "./facts";
import { error, type Finding, note, ok, warning } from "./finding";

/** Returns the findings of the Neovims here about themselves, and our own. */
export function runChecks(facts: Facts): Finding[] {
  const found = [
    checkCli(facts),
    ...checkDiscovery(facts),
    foreignTerminal(facts),
    checkProxy(facts),
    checkDiffs(facts),
    checkHooks(facts),
  ];
  return [...ownFindings(facts), ...found.filter((finding) => finding !== undefined)];
}

function ownFindings({ editors, cwd }: Facts): Finding[] {
  return editorsHere(editors, cwd).flatMap(({ inside, report }) => {
    const who = inside ? "" : `Neovim ${report?.pid}: `;
    return (report?.findings ?? []).map((finding) => ({ ...finding, what: who + finding.what }));
  });
}

/** Older versions lack features that we need (`--settings` with hooks, the token). */
const OLDEST = "2.0.0";
const INSTALL = "run `npm install -g @anthropic-ai/claude-code`, or name it in terminal.command";

function checkCli({ cli, cliVersion: version, editors }: Facts): Finding {
  if (cli.path === undefined && editors.some(({ report }) => report?.in_remote))
    return note("the Claude CLI does not run here: terminal.remote says where it runs");
  if (cli.path === undefined) return error("cli-missing", `the Claude CLI ${cli.why}`, INSTALL);
  const { path } = cli;
  if (!version) return error("cli-missing", `the Claude CLI ${path} does not run`, INSTALL);
  if (Bun.semver.order(version, OLDEST) < 0) {
    const what = `the Claude CLI ${path} has version ${version}; it must be ${OLDEST} or newer`;
    return error("cli-outdated", what, "run `claude update`");
  }
  return ok(`Claude CLI ${version} (${path})`);
}

/** Would the CLI send ws://127.0.0.1 through a proxy? The plugin sets no_proxy in its terminals. */
function checkProxy({ env }: Facts): Finding | undefined {
  const name = catchingProxy(env);
  if (!name) return undefined;
  return error(
    "proxy-catches-loopback",
    `${name} is set, and no_proxy does not exempt 127.0.0.1: the CLI connects to the proxy instead of the editor`,
    'run `export no_proxy="127.0.0.1,localhost,$no_proxy"` before `claude`',
  );
}

/** The CLI (2.1.330) recognizes another editor's terminal by these variables. Undefined stands for any value. */
const MARKS: Readonly<Record<string, string | undefined>> = {
  TERM_PROGRAM: "vscode",
  TERMINAL_EMULATOR: "JetBrains-JediTerm",
  CURSOR_TRACE_ID: undefined,
  FORCE_CODE_TERMINAL: undefined,
};

function foreignTerminal({ env, editors }: Facts): Finding | undefined {
  const marks = Object.entries(MARKS).filter(([name, value]) =>
    value === undefined ? env[name] : env[name] === value,
  );
  const [[name] = []] = marks;
  // In Neovim's own terminals the CLI knows the port.
  if (name === undefined || editors.some(({ inside }) => inside)) return undefined;
  const what = `${name} is ${env[name]}: the CLI takes this terminal for another editor's, and connects only to that editor`;
  const unset = marks.map(([mark]) => `-u ${mark}`).join(" ");
  return error("terminal-of-another-editor", what, `run \`env ${unset} claude\``);
}

/** Will a CLI that is started here find a Neovim? */
function* checkDiscovery(facts: Facts): Generator<Finding> {
  const { cwd, env, locks, editors } = facts;
  const port = env.CLAUDE_CODE_SSE_PORT;
  const chosen = locks.find((lock) => lock.alive && String(lock.port) === port);
  if (port && !chosen) return yield restarted(port);
  const here = editorsHere(editors, cwd);
  // The plugin's own findings say why.
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

/** The lock file of a relay has no process id, since the editor runs elsewhere. */
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

/** Undefined if a CLI can connect to the Neovim. */
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

/** Will the CLI show its edits in the editor? */
function checkDiffs(facts: Facts): Finding {
  const reports = editorsHere(facts.editors, facts.cwd).flatMap(({ report }) => report ?? []);
  const terminal = [facts.state, ...facts.settings].find(
    ({ content }) => content.diffTool === "terminal",
  );
  if (reports.some((report) => report.diff_open === "never")) {
    if (terminal) return ok('Claude shows its edits in its terminal alone (diff.open is "never")');
    return warning(
      "no-diff-anywhere",
      'diff.open is "never", and Claude asks without showing its edit',
      'type /config in the CLI and set "Diff tool" to terminal',
    );
  }
  if (!terminal) return checkMode(facts, reports);
  return error(
    "diff-tool-terminal",
    `diffTool is "terminal" in ${terminal.path}: the CLI shows its edits only in the terminal`,
    'type /config in the CLI and set "Diff tool" to auto',
  );
}

/** For a CLI that the plugin starts, the option of setup() takes precedence over settings. */
function checkMode({ settings }: Facts, reports: readonly EditorReport[]): Finding {
  for (const { permission_mode: mode } of reports) {
    if (mode === undefined) continue;
    if (ASKING_MODES.includes(mode)) return ok(`permission mode "${mode}" (setup())`);
    return skipped(
      `terminal.permission_mode in setup() sets the permission mode "${mode}"`,
      'set it to "default"',
    );
  }
  for (const { path, content } of settings) {
    const mode = isObject(content.permissions) ? content.permissions.defaultMode : undefined;
    if (typeof mode !== "string") continue;
    if (ASKING_MODES.includes(mode)) return ok(`permission mode "${mode}" (${path})`);
    return skipped(
      `permissions.defaultMode is "${mode}" in ${path}`,
      'set it to "default", or start `claude --permission-mode default`',
    );
  }
  return note(
    "your settings name no permission mode; in auto mode the CLI shows no diffs: set " +
      '`terminal.permission_mode` to "default", or start `claude --permission-mode default`, to see them',
  );
}

function skipped(what: string, remedy: string): Finding {
  const why = 'the editor shows edits only in the modes "default" and "plan"';
  return warning("mode-skips-diffs", `${what}: ${why}`, remedy);
}

const REPAIR = "run :Claude setup, or `claude-code-nvim install-hooks`";

/** Is the set-up of the project complete, and does its program exist? */
function checkHooks({ cwd }: Facts): Finding | undefined {
  const root = projectAround(cwd);
  if (!root) return undefined;
  const missing = missingSteps(root);
  if (missing) {
    const what = `the set-up of ${root} is incomplete; a new one would ${missing}`;
    return warning("hooks-half-installed", what, REPAIR);
  }
  if (!isExecutable(stablePath())) {
    const what = `the hooks of ${root} start ${stablePath()}, which is not an executable`;
    return error("hooks-broken", what, REPAIR);
  }
  return ok(`the plugin for Claude Code is enabled in ${root}`);
}

/** The changes that a new set-up of the project would make; empty if it is complete. */
function missingSteps(root: string): string {
  try {
    const { steps } = planInstall(root, { claudeMd: false, address: false });
    return steps.map(({ what }) => what).join(", ");
  } catch (problem) {
    return `fail: ${message(problem)}`;
  }
}
