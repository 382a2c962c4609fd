import { statSync } from "node:fs";
import { dirname } from "node:path";
import { VERSION } from "../version";
import type { Editor, EditorReport } from "./editors";
import type { Surroundings } from "./facts";
import { error, type Finding, ok, warning } from "./finding";
import { readLock } from "./locks";

const RESTART = "run :ClaudeCodeStop and :ClaudeCodeStart in that Neovim";
const START = {
  starting: "run this again in a moment; if it stays so, :ClaudeCodeLog there says why",
  downloading: "wait for the end of the download, then run this again",
  stopped: "run :ClaudeCodeStart there",
  failed: "run :ClaudeCodeStart there",
};

/** Is one Neovim fit to be connected to? Undefined if it is. */
export function faultOfEditor(editor: Editor, surroundings: Surroundings): Finding | undefined {
  if (editor.problem === "no-plugin") {
    const what = `the Neovim at ${editor.address} has not loaded the plugin`;
    return error(
      "plugin-not-loaded",
      what,
      'put `require("claude-code").setup({})` into its configuration',
    );
  }
  if (editor.problem === "busy") {
    const what = `the Neovim at ${editor.address} does not answer: it is busy, or shows a prompt`;
    return error("editor-busy", what, "go there and press <Enter> or CTRL-C");
  }
  const { report } = editor;
  if (!report) return undefined;
  return faultOfServer(report) ?? faultOfVersion(report) ?? faultOfLock(report, surroundings);
}

export function describe(report: EditorReport): string {
  return `Neovim ${report.pid}`;
}

function faultOfServer(report: EditorReport): Finding | undefined {
  if (report.state === "ready") return undefined;
  const why = report.last_error ?? report.why;
  const what = `the server of ${describe(report)} is ${report.state}${why ? `: ${why}` : ""}`;
  return error("server-not-running", what, START[report.state]);
}

function faultOfVersion(report: EditorReport): Finding | undefined {
  if (report.version === VERSION) return undefined;
  const what = `this executable has version ${VERSION}, the plugin in ${describe(report)} ${report.version}`;
  return warning("version-differs", what, "update the older one, then restart that Neovim");
}

function faultOfLock(report: EditorReport, { lockFolders }: Surroundings): Finding | undefined {
  const path = report.lock_file;
  if (!path) return error("lock-missing", `${describe(report)} has no lock file`, RESTART);
  if (!lockFolders.includes(dirname(path))) return configFolderDiffers(report, path, lockFolders);
  const { problem } = readLock(path);
  if (problem === "missing") {
    return error("lock-missing", `the lock file ${path} of ${describe(report)} is gone`, RESTART);
  }
  if (problem) {
    return error("lock-unreadable", `the lock file ${path} cannot be used: ${problem}`, RESTART);
  }
  return faultOfMode(path);
}

function configFolderDiffers(
  report: EditorReport,
  path: string,
  lockFolders: readonly string[],
): Finding {
  const what =
    `${describe(report)} has its lock file in ${dirname(path)}, ` +
    `but a CLI with this environment looks in ${lockFolders.join(" and ")}`;
  const remedy = report.config_dir
    ? `run \`export CLAUDE_CONFIG_DIR=${report.config_dir}\` before \`claude\``
    : "run `unset CLAUDE_CONFIG_DIR` before `claude`";
  return error("config-dir-differs", what, remedy);
}

/** The token in it lets its reader in. */
function faultOfMode(path: string): Finding | undefined {
  if (process.platform === "win32") return undefined;
  for (const [place, wanted] of [
    [path, 0o600],
    [dirname(path), 0o700],
  ] as const) {
    const mode = statSync(place).mode & 0o777;
    if (mode !== wanted) {
      const what = `${place} has mode ${mode.toString(8)}: others may read the token in it`;
      return error("lock-exposed", what, `run \`chmod ${wanted.toString(8)} ${place}\``);
    }
  }
  return undefined;
}

/** Does anything tell Neovim what is wrong in the files that are open? */
export function checkLanguageServers({ report }: Editor): Finding | undefined {
  if (!report || report.source_files === 0) return undefined;
  const servers = report.language_servers;
  if (servers.length > 0)
    return ok(`language servers in ${describe(report)}: ${servers.join(", ")}`);
  return warning(
    "no-language-server",
    `no language server is attached in ${describe(report)}: Claude learns of no errors there`,
    "see :checkhealth vim.lsp, and `vim.lsp.enable()`",
  );
}
