import { ASKING_MODES } from "../claude/names";
import { isObject } from "../lib/json";
import { type EditorReport, editorsHere, type Facts } from "./facts";
import { error, type Finding, note, ok, warning } from "./finding";

/** Will the CLI show its edits in the editor? */
export function checkDiffs(facts: Facts): Finding {
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

/** The option of setup() chooses the mode of a CLI started by the plugin, before settings do. */
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
