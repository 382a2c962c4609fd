import { type Lock, lockFolders } from "../ide/lock-file";
import { isObject } from "../lib/json";
import { editorProblem } from "./check-editor";
import { covers, type Editor } from "./editors";
import type { Facts } from "./facts";
import { error, type Finding, note, ok, warning } from "./finding";
import type { RunningCli } from "./running-clis";

const USE_IDE = "type /ide in the CLI and choose Neovim";

/** Will a CLI that is started here find a Neovim, and has one that runs not lost its own? */
export function* checkDiscovery(facts: Facts): Generator<Finding> {
  const { env, locks } = facts;
  const forbidden = autoConnectOff(facts);
  if (forbidden) yield forbidden;
  const lost = lostPort(env.CLAUDE_CODE_SSE_PORT, locks);
  if (lost !== undefined) {
    yield error(
      "editor-restarted",
      `this terminal belongs to a Neovim on port ${lost}, which no longer listens`,
      `${USE_IDE}, or start \`claude\` in a new terminal`,
    );
    return;
  }
  yield* findingsOfPlace(facts);
  yield* findingsOfRunning(facts);
}

/** Values that the CLI takes for false, in any case (read in 2.1.330). */
const FALSE = ["0", "false", "no", "off"];
const AUTO_CONNECT = "CLAUDE_CODE_AUTO_CONNECT_IDE";

/** A variable in a settings file replaces the shell's (measured with 2.1.330). */
export function autoConnectOff({ env, settings, running, cwd }: Facts): Finding | undefined {
  const isOff = (value: unknown) =>
    FALSE.includes(
      String(value ?? "")
        .toLowerCase()
        .trim(),
    );
  const why = "the CLI does not connect to an editor by itself";
  const cause = "auto-connect-off";
  for (const { path, content } of settings) {
    const value = isObject(content.env) ? content.env[AUTO_CONNECT] : undefined;
    if (value === undefined) continue;
    if (!isOff(value)) return undefined;
    return error(cause, `env.${AUTO_CONNECT} is "${value}" in ${path}: ${why}`, "remove it there");
  }
  if (isOff(env[AUTO_CONNECT])) {
    const what = `${AUTO_CONNECT} is ${env[AUTO_CONNECT]}: ${why}`;
    return error(cause, what, `run \`unset ${AUTO_CONNECT}\``);
  }
  const cli = running.find((one) => isHere(one, cwd) && isOff(one.env[AUTO_CONNECT]));
  if (!cli) return undefined;
  const what = `the CLI ${cli.pid} was started with ${AUTO_CONNECT}=${cli.env[AUTO_CONNECT]}: ${why}`;
  return error(cause, what, USE_IDE);
}

/** The port that a terminal was given, if no editor has a lock file for it any more. */
function lostPort(port: string | undefined, locks: readonly Lock[]): string | undefined {
  return port && !locks.some((lock) => lock.alive && String(lock.port) === port) ? port : undefined;
}

function* findingsOfPlace(facts: Facts): Generator<Finding> {
  const { cwd, env, locks, editors } = facts;
  const inside = editors.find((editor) => editor.inside);
  const near = editors.filter((editor) => !editor.inside && isNear(editor, cwd));
  for (const editor of inside ? [inside] : near.filter(isServing)) {
    const problem = editorProblem(editor, facts);
    if (problem) return yield problem;
  }
  const matching = locks.filter((lock) => lock.alive && covers(lock.folders, cwd));
  const chosen = locks.find((lock) => lock.alive && String(lock.port) === env.CLAUDE_CODE_SSE_PORT);
  if (matching.length > 1 && !chosen) return yield twoMatch(matching);
  const found = chosen ?? matching[0];
  if (found) {
    yield ok(`a CLI that you start here finds ${nameOf(found)} on port ${found.port}`);
    if (!chosen) yield note("outside of Neovim, type /ide once or start `claude --ide`");
    return;
  }
  const idle = near.find((editor) => !isServing(editor));
  yield (idle && editorProblem(idle, facts)) ?? nothingFound(facts);
}

/** One in which the server does not run is no reason to doubt another one that is there. */
function isServing({ report }: Editor): boolean {
  return report === undefined || report.state === "ready";
}

function isNear({ report }: Editor, cwd: string): boolean {
  return report === undefined || covers(report.folders, cwd);
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

function nothingFound({ cwd, locks, editors }: Facts): Finding {
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
  const unusable = locks.find((lock) => lock.problem);
  if (unusable) {
    const what = `the lock file ${unusable.path} cannot be used: ${unusable.problem}`;
    return error("lock-unreadable", what, `run \`rm ${unusable.path}\`, then restart the editor`);
  }
  const stale = locks.find((lock) => !lock.alive);
  if (stale) {
    const who = stale.pid === undefined ? "a relay" : `process ${stale.pid}`;
    const what = `the lock file ${stale.path} was left by ${who}, which has ended`;
    return error("lock-stale", what, `run \`rm ${stale.path}\`, and open Neovim in ${cwd}`);
  }
  const which = editors.length > 0 ? "answers" : "has the plugin";
  return error("no-editor", `no running Neovim ${which}`, `open Neovim in ${cwd}`);
}

/** CLIs that run in this folder and cannot find the Neovim that is there now. */
function* findingsOfRunning(facts: Facts): Generator<Finding> {
  const { locks, editors, cwd, home } = facts;
  const connected = new Set(
    editors.flatMap((editor) => editor.report?.clients.map((client) => client.pid) ?? []),
  );
  for (const cli of facts.running) {
    if (connected.has(cli.pid) || !isHere(cli, cwd)) continue;
    const lost = lostPort(cli.env.CLAUDE_CODE_SSE_PORT, locks);
    if (lost !== undefined) {
      const what = `the CLI ${cli.pid} belongs to a Neovim on port ${lost}, which no longer listens`;
      return yield error("editor-restarted", what, USE_IDE);
    }
    const folders = lockFolders(cli.env, home);
    const unseen = editors.find(
      ({ report }) => report?.lock_file && !folders.some((at) => report.lock_file?.startsWith(at)),
    );
    if (unseen) {
      const what = `the CLI ${cli.pid} looks for editors in ${folders.join(" and ")}, but Neovim's lock file is ${unseen.report?.lock_file}`;
      const folder = unseen.report?.config_dir;
      const set = folder ? `CLAUDE_CONFIG_DIR=${folder} claude` : "env -u CLAUDE_CONFIG_DIR claude";
      return yield error("config-dir-differs", what, `exit it, then start it with \`${set}\``);
    }
  }
}

function isHere(cli: RunningCli, cwd: string): boolean {
  return covers([cwd], cli.cwd) || covers([cli.cwd], cwd);
}
