import { faultOfEditor } from "./check-editor";
import type { Editor } from "./editors";
import { lockFoldersOf, type Surroundings } from "./facts";
import { error, type Finding, note, ok, warning } from "./finding";
import { covers, type Lock } from "./locks";
import type { RunningCli } from "./running-clis";

const SAY_IDE = "type /ide in the CLI and choose Neovim";

/** Will a CLI that is started here find a Neovim, and has one that runs not lost its own? */
export function* checkDiscovery(surroundings: Surroundings): Generator<Finding> {
  const { env, locks } = surroundings;
  if (env.CLAUDE_CODE_AUTO_CONNECT_IDE === "0") {
    yield error(
      "auto-connect-off",
      "CLAUDE_CODE_AUTO_CONNECT_IDE is 0: the CLI connects to no editor by itself",
      "run `unset CLAUDE_CODE_AUTO_CONNECT_IDE`",
    );
  }
  const lost = lostPort(env.CLAUDE_CODE_SSE_PORT, locks);
  if (lost !== undefined) {
    yield error(
      "editor-restarted",
      `this terminal belongs to a Neovim that listened on port ${lost} and does so no more`,
      `${SAY_IDE}, or start \`claude\` in a new terminal`,
    );
    return;
  }
  yield* findingsOfPlace(surroundings);
  yield* findingsOfRunning(surroundings);
}

/** The port that a terminal was given, if nobody has a lock file for it any more. */
function lostPort(port: string | undefined, locks: readonly Lock[]): string | undefined {
  return port && !locks.some((lock) => lock.alive && String(lock.port) === port) ? port : undefined;
}

function* findingsOfPlace(surroundings: Surroundings): Generator<Finding> {
  const { cwd, env, locks, editors } = surroundings;
  const inside = editors.find((editor) => editor.inside);
  const near = editors.filter((editor) => !editor.inside && isNear(editor, cwd));
  for (const editor of inside ? [inside] : near) {
    const fault = faultOfEditor(editor, surroundings);
    if (fault) return yield fault;
  }
  const matching = locks.filter((lock) => lock.alive && covers(lock.folders, cwd));
  const chosen = locks.find((lock) => lock.alive && String(lock.port) === env.CLAUDE_CODE_SSE_PORT);
  if (matching.length > 1 && !chosen) return yield twoMatch(matching);
  const found = chosen ?? matching[0];
  if (found) {
    yield ok(`a CLI started here finds ${found.ideName} ${found.pid} on port ${found.port}`);
    if (!chosen) yield note("outside of Neovim type /ide once, or start `claude --ide`");
    return;
  }
  yield nothingFound(surroundings);
}

function isNear({ report }: Editor, cwd: string): boolean {
  return report === undefined || covers(report.folders, cwd);
}

function twoMatch(locks: readonly Lock[]): Finding {
  const list = locks.map((lock) => `${lock.ideName} ${lock.pid} (port ${lock.port})`).join(", ");
  return warning(
    "two-editors-match",
    `${locks.length} editors have this folder open, so a CLI outside of them takes none: ${list}`,
    `start \`claude\` in a terminal of the one you mean, or run \`CLAUDE_CODE_SSE_PORT=${locks[0]?.port} claude\``,
  );
}

function nothingFound({ cwd, locks, editors }: Surroundings): Finding {
  const others = locks.filter((lock) => lock.alive);
  const elsewhere = others.find((lock) => lock.ideName === "Neovim") ?? others[0];
  if (elsewhere) {
    const folders = elsewhere.folders.join(", ") || "no folder";
    return error(
      "outside-workspace",
      `${cwd} is outside of the workspace of ${elsewhere.ideName} ${elsewhere.pid}, which is ${folders}`,
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
    const what = `the lock file ${stale.path} was left by process ${stale.pid}, which has ended`;
    return error("lock-stale", what, `run \`rm ${stale.path}\`, and open Neovim in ${cwd}`);
  }
  const busy = editors.length > 0 ? "no Neovim that answers" : "no Neovim with the plugin";
  return error("no-editor", `${busy} is running`, `open Neovim in ${cwd}`);
}

/** CLIs that run in this folder and cannot know of the Neovim that is there now. */
function* findingsOfRunning(surroundings: Surroundings): Generator<Finding> {
  const { locks, editors, cwd, home } = surroundings;
  const connected = new Set(
    editors.flatMap((editor) => editor.report?.clients.map((client) => client.pid) ?? []),
  );
  for (const cli of surroundings.running) {
    if (connected.has(cli.pid) || !isHere(cli, cwd)) continue;
    const lost = lostPort(cli.env.CLAUDE_CODE_SSE_PORT, locks);
    if (lost !== undefined) {
      const what = `the CLI ${cli.pid} belongs to a Neovim that listened on port ${lost} and does so no more`;
      return yield error("editor-restarted", what, SAY_IDE);
    }
    const folders = lockFoldersOf(cli.env, home);
    const unseen = editors.find(
      ({ report }) => report?.lock_file && !folders.some((at) => report.lock_file?.startsWith(at)),
    );
    if (unseen) {
      const what = `the CLI ${cli.pid} looks for editors in ${folders.join(" and ")}, Neovim's lock file is ${unseen.report?.lock_file}`;
      const folder = unseen.report?.config_dir;
      const set = folder ? `CLAUDE_CONFIG_DIR=${folder} claude` : "env -u CLAUDE_CONFIG_DIR claude";
      return yield error("config-dir-differs", what, `end it, and start it with \`${set}\``);
    }
  }
}

function isHere(cli: RunningCli, cwd: string): boolean {
  return covers([cwd], cli.cwd) || covers([cli.cwd], cwd);
}
