import { globalConfig, isObject, settingsFiles } from "../claude/settings-files";
import type { Surroundings } from "./facts";
import { error, type Finding, note, ok, warning } from "./finding";

/** The permission modes in which the CLI sends edits to the editor (2.1.330). */
const SHOWING = ["default", "plan", "manual"];

/** Will the CLI show its edits in the editor? */
export function* checkDiffs(surroundings: Surroundings): Generator<Finding> {
  const terminal = [globalConfig(surroundings), ...settingsFiles(surroundings)].find(
    ({ content }) => content.diffTool === "terminal",
  );
  if (terminal) {
    yield error(
      "diff-tool-terminal",
      `diffTool is "terminal" in ${terminal.path}: the CLI shows its edits there alone`,
      'type /config in the CLI and set "Diff tool" to auto',
    );
    return;
  }
  yield findingOfMode(surroundings);
}

function findingOfMode(surroundings: Surroundings): Finding {
  const { running, editors, cwd } = surroundings;
  const cli = running.find((one) => one.cwd === cwd && skips(modeOf(one.args)));
  if (cli) {
    return skipped(
      `the CLI ${cli.pid} runs in the permission mode ${modeOf(cli.args)}`,
      "press Shift-Tab in the CLI until it asks before edits",
    );
  }
  const report = editors.map((editor) => editor.report).find((one) => skips(one?.permission_mode));
  if (report) {
    const option = report.permission_option ?? "terminal.permission_mode";
    return skipped(
      `${option} in setup() sets the permission mode "${report.permission_mode}"`,
      option === "terminal.args" ? "take that out of terminal.args" : 'set it to "default"',
    );
  }
  for (const { path, content } of settingsFiles(surroundings)) {
    const mode = isObject(content.permissions) ? content.permissions.defaultMode : undefined;
    if (typeof mode !== "string") continue;
    if (!skips(mode)) return ok(`permission mode "${mode}" (${path})`);
    return skipped(
      `permissions.defaultMode is "${mode}" in ${path}`,
      'set it to "default", or start `claude --permission-mode default`',
    );
  }
  return note(
    "a CLI started outside of Neovim gets no permission mode from its settings; in auto mode it " +
      "shows no diffs: `claude --permission-mode default` does",
  );
}

function skipped(what: string, remedy: string): Finding {
  const why = 'edits are shown in the editor in the modes "default" and "plan" only';
  return warning("mode-skips-diffs", `${what}: ${why}`, remedy);
}

function skips(mode: string | undefined): boolean {
  return mode !== undefined && !SHOWING.includes(mode);
}

function modeOf(args: readonly string[]): string | undefined {
  if (args.includes("--dangerously-skip-permissions")) return "bypassPermissions";
  const at = args.indexOf("--permission-mode");
  if (at >= 0) return args[at + 1];
  return args.find((word) => word.startsWith("--permission-mode="))?.split("=")[1];
}
