import { statSync } from "node:fs";
import { dirname } from "node:path";
import { readLock } from "../ide/lock-file";
import { VERSION } from "../lib/version";
import type { Editor, EditorReport } from "./editors";
import type { Facts } from "./facts";
import { error, type Finding, ok, warning } from "./finding";

const RESTART = "run :Claude stop and :Claude start in that Neovim";
const SERVER = {
  starting: {
    is: "is still starting",
    remedy: "run this again in a moment; if it is still starting, see :Claude log there",
  },
  downloading: {
    is: "waits for the download of its executable",
    remedy: "wait for the end of the download, then run this again",
  },
  failed: { is: "has failed", remedy: "run :Claude start there" },
};

/** Is one Neovim fit to be connected to? Undefined if it is. */
export function editorProblem(editor: Editor, facts: Facts): Finding | undefined {
  if (editor.problem === "no-plugin") {
    const what = `the Neovim at ${editor.address} has not loaded the plugin`;
    return error(
      "plugin-not-loaded",
      what,
      'put `require("claude-code").setup({})` into its configuration',
    );
  }
  if (editor.problem === "busy") {
    const what = `the Neovim at ${editor.address} does not answer: it is busy or shows a prompt`;
    return error("editor-busy", what, "go there and press <Enter> or CTRL-C");
  }
  const { report } = editor;
  if (!report) return undefined;
  return serverProblem(report) ?? versionProblem(report) ?? lockProblem(report, facts);
}

function serverProblem(report: EditorReport): Finding | undefined {
  if (report.state === "ready") return undefined;
  if (report.state === "stopped") return stopped(report);
  const why = report.last_error ?? report.why;
  const { is, remedy } = SERVER[report.state];
  const what = `the server of Neovim ${report.pid} ${is}${why ? `: ${why}` : ""}`;
  return error("server-not-running", what, remedy);
}

/** Nothing is broken: the user, or an option, wants it so. */
function stopped(report: EditorReport): Finding {
  const why = report.why ? `: ${report.why}` : "";
  const what = report.stopped_by_user
    ? `you stopped the server of Neovim ${report.pid}, so no CLI finds it`
    : `the server of Neovim ${report.pid} was not started${why}`;
  return warning("server-stopped", what, "run :Claude start there");
}

function versionProblem(report: EditorReport): Finding | undefined {
  if (report.version === VERSION) return undefined;
  const what = `this executable has version ${VERSION}, the plugin in Neovim ${report.pid} has ${report.version}`;
  return warning("version-differs", what, "update the older one, then restart that Neovim");
}

function lockProblem(report: EditorReport, { lockFolders }: Facts): Finding | undefined {
  const path = report.lock_file;
  if (!path) return error("lock-missing", `Neovim ${report.pid} has no lock file`, RESTART);
  if (!lockFolders.includes(dirname(path))) return configFolderDiffers(report, path, lockFolders);
  const { problem } = readLock(path);
  if (problem === "missing") {
    return error("lock-missing", `the lock file ${path} of Neovim ${report.pid} is gone`, RESTART);
  }
  if (problem) {
    return error("lock-unreadable", `the lock file ${path} cannot be used: ${problem}`, RESTART);
  }
  return lockModeProblem(path);
}

function configFolderDiffers(
  report: EditorReport,
  path: string,
  lockFolders: readonly string[],
): Finding {
  const what =
    `Neovim ${report.pid} has its lock file in ${dirname(path)}, ` +
    `but a CLI with this environment looks in ${lockFolders.join(" and ")}`;
  const remedy = report.config_dir
    ? `run \`export CLAUDE_CONFIG_DIR=${report.config_dir}\` before \`claude\``
    : "run `unset CLAUDE_CONFIG_DIR` before `claude`";
  return error("config-dir-differs", what, remedy);
}

/** Whoever can read the token in it can connect. */
function lockModeProblem(path: string): Finding | undefined {
  if (process.platform === "win32") return undefined;
  for (const [place, wanted] of [
    [path, 0o600],
    [dirname(path), 0o700],
  ] as const) {
    const mode = statSync(place).mode & 0o777;
    if (mode !== wanted) {
      const what = `${place} has mode ${mode.toString(8)}: other users may read the token in it`;
      return error("lock-exposed", what, `run \`chmod ${wanted.toString(8)} ${place}\``);
    }
  }
  return undefined;
}

/** Does a language server report problems in the open files? */
export function checkLanguageServers({ report }: Editor): Finding | undefined {
  if (!report || report.source_files === 0) return undefined;
  const servers = report.language_servers;
  if (servers.length > 0)
    return ok(`language servers in Neovim ${report.pid}: ${servers.join(", ")}`);
  return warning(
    "no-language-server",
    `no language server is attached in Neovim ${report.pid}: Claude receives no diagnostics from it`,
    "see :checkhealth vim.lsp and `vim.lsp.enable()`",
  );
}
