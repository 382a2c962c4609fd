import { ASKING_MODES } from "../claude/names";
import { isObject } from "../lib/json";
import { type EditorReport, isHere } from "./editors";
import type { Facts } from "./facts";
import { error, type Finding, note, ok, warning } from "./finding";

/** Will the CLI show its edits in the editor? */
export function checkDiffs(facts: Facts): Finding {
  const terminal = [facts.state, ...facts.settings].find(
    ({ content }) => content.diffTool === "terminal",
  );
  const isNever = facts.editors.some(
    (one) => isHere(one, facts.cwd) && one.report?.diff_open === "never",
  );
  if (isNever) {
    if (terminal) return ok('Claude shows its edits in its terminal alone (diff.open is "never")');
    return warning(
      "no-diff-anywhere",
      'diff.open is "never", and Claude asks without showing its edit',
      'type /config in the CLI and set "Diff tool" to terminal',
    );
  }
  if (!terminal) return checkMode(facts);
  return error(
    "diff-tool-terminal",
    `diffTool is "terminal" in ${terminal.path}: the CLI shows its edits only in the terminal`,
    'type /config in the CLI and set "Diff tool" to auto',
  );
}

function checkMode({ running, editors, cwd, settings }: Facts): Finding {
  const cli = running.find((one) => one.cwd === cwd && !showsDiffs(permissionModeIn(one.args)));
  if (cli) {
    return skipped(
      `the CLI ${cli.pid} runs in the permission mode ${permissionModeIn(cli.args)}`,
      "press Shift-Tab in the CLI until it asks before edits",
    );
  }
  for (const editor of editors.filter((one) => isHere(one, cwd))) {
    const finding = editor.report && checkOptions(editor.report);
    if (finding) return finding;
  }
  for (const { path, content } of settings) {
    const mode = isObject(content.permissions) ? content.permissions.defaultMode : undefined;
    if (typeof mode !== "string") continue;
    if (showsDiffs(mode)) return ok(`permission mode "${mode}" (${path})`);
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

/** The options of setup() that choose the mode of a CLI started by the plugin. */
function checkOptions({ terminal_args, permission_mode }: EditorReport): Finding | undefined {
  const named = permissionModeIn(terminal_args ?? []);
  const mode = named ?? permission_mode;
  if (showsDiffs(mode)) return undefined;
  const option = named === undefined ? "terminal.permission_mode" : "terminal.args";
  return skipped(
    `${option} in setup() sets the permission mode "${mode}"`,
    named === undefined ? 'set it to "default"' : "remove that from terminal.args",
  );
}

function skipped(what: string, remedy: string): Finding {
  const why = 'the editor shows edits only in the modes "default" and "plan"';
  return warning("mode-skips-diffs", `${what}: ${why}`, remedy);
}

function showsDiffs(mode: string | undefined): boolean {
  return mode === undefined || ASKING_MODES.includes(mode);
}

/** The permission mode that a command line asks for; "bypassPermissions" goes before all. */
function permissionModeIn(args: readonly string[]): string | undefined {
  if (args.includes("--dangerously-skip-permissions")) return "bypassPermissions";
  const at = args.findLastIndex((word) => /^--permission-mode(=|$)/.test(word));
  return at < 0 ? undefined : (args[at]?.split("=")[1] ?? args[at + 1]);
}
