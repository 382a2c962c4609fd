import { statSync } from "node:fs";
import { dirname } from "node:path";
import { readLock } from "../ide/lock-file";
import { VERSION } from "../lib/version";
import type { Editor, EditorReport } from "./editors";
import type { Facts } from "./facts";
import { error, type Finding, warning } from "./finding";

const RESTART = "run :Claude stop and :Claude start in that Neovim";

/** Is one Neovim fit to be connected to? Undefined if it is. */
export function editorProblem(
  { address, problem, report }: Editor,
  facts: Facts,
): Finding | undefined {
  if (!report) return problem === "busy" ? busy(address) : withoutPlugin(address);
  return versionProblem(report) ?? lockProblem(report, facts);
}

function busy(address: string): Finding {
  const what = `the Neovim at ${address} does not answer: it is busy or shows a prompt`;
  return error("editor-busy", what, "go there and press <Enter> or CTRL-C");
}

function withoutPlugin(address: string): Finding {
  const what = `the Neovim at ${address} has not loaded the plugin`;
  const remedy = 'put `require("claude-code").setup({})` into its configuration';
  return error("plugin-not-loaded", what, remedy);
}

function versionProblem(report: EditorReport): Finding | undefined {
  if (report.version === VERSION) return undefined;
  const what = `this executable has version ${VERSION}, the plugin in Neovim ${report.pid} has ${report.version}`;
  return warning("version-differs", what, "update the older one, then restart that Neovim");
}

function lockProblem(report: EditorReport, { lockFolders }: Facts): Finding | undefined {
  const { pid, lock_file: path } = report;
  if (path && !lockFolders.includes(dirname(path)))
    return configFolderDiffers(report, path, lockFolders);
  const problem = path ? readLock(path).problem : "missing";
  if (!path || problem) {
    const what = `the lock file ${path ?? ""} of Neovim ${pid} cannot be used: ${problem}`;
    return error("lock-unusable", what, RESTART);
  }
  return exposed(path, 0o600) ?? exposed(dirname(path), 0o700);
}

function configFolderDiffers(
  { pid, config_dir }: EditorReport,
  path: string,
  lockFolders: readonly string[],
): Finding {
  const what =
    `Neovim ${pid} has its lock file in ${dirname(path)}, ` +
    `but a CLI with this environment looks in ${lockFolders.join(" and ")}`;
  const set = config_dir ? `export CLAUDE_CONFIG_DIR=${config_dir}` : "unset CLAUDE_CONFIG_DIR";
  return error("config-dir-differs", what, `run \`${set}\` before \`claude\``);
}

/** Whoever can read the token in it can connect. */
function exposed(path: string, wanted: number): Finding | undefined {
  const mode = statSync(path).mode & 0o777;
  if (process.platform === "win32" || mode === wanted) return undefined;
  const what = `${path} has mode ${mode.toString(8)}: other users may read the token in it`;
  return error("lock-exposed", what, `run \`chmod ${wanted.toString(8)} ${path}\``);
}
