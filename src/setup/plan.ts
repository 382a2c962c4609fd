import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { findClaude, hasOldServer, REMOVE_ARGUMENTS, runClaude } from "../claude/cli";
import { withoutPlugin, withPlugin } from "../claude/settings-text";
import { removeOldDrafts, replace, writePrivateFile } from "../lib/atomic-write";
import { Failure } from "../lib/errors";
import { waitForLock } from "../lib/lock";
import { isSameFile, realPath, stablePath } from "../lib/paths";
import { basename, delimiter, dirname, IS_WINDOWS, isAbsolute, join } from "../lib/platform";
import { whyUnsafe } from "../locate/find";
import { PROJECT_FILE } from "../locate/project-file";
import { linkStable, marketplace, stablePlugin, writePlugin } from "../mod/plugin";
import { type ProjectRecord, readRecord, recordPath, writeRecord } from "./record";
import {
  changeFile,
  makeFolder,
  type Plan,
  readText,
  removeFolders,
  restoreFile,
  type Step,
  targetWithin,
} from "./step";

interface InstallOptions {
  /** Adds the section to CLAUDE.md. */
  claudeMd: boolean;
  /** Unless false, writes the address of the Neovim around us. */
  address?: boolean | undefined;
  /** The path of the Claude CLI, instead of looking it up. */
  claude?: string | undefined;
}

const SETTINGS = join(".claude", "settings.local.json");
/** Longer than the Claude CLI may take to remove the MCP server of version 0.1. */
const LOCK_MS = 40_000;
const FOLDER = dirname(PROJECT_FILE);
const IGNORE_ALL = "*\n";

/** Sets a project up for a Claude CLI that is started outside of Neovim. Throws Failure. */
export function planInstall(root: string, options: InstallOptions): Plan {
  const again = () => planInstall(root, options);
  const plan: Plan = { root, active: true, steps: [], notes: [], again };
  const source = { folder: stablePlugin(), marketplace: marketplace() };
  addChange(plan, root, SETTINGS, `enable the plugin in ${stablePlugin()}`, (text) =>
    withPlugin(text, source, join(root, SETTINGS)),
  );
  if (options.claudeMd) {
    addChange(plan, root, "CLAUDE.md", "the section LSP Diagnostics", withSection);
  }
  if (options.address !== false) addProjectFile(plan, root);
  addServerRemoval(plan, root, options.claude);
  return plan;
}

/** Undoes the set-up, and nothing else. Throws Failure. */
export function planUninstall(root: string, claude?: string): Plan {
  const again = () => planUninstall(root, claude);
  const plan: Plan = { root, active: false, steps: [], notes: [], again };
  const record = readRecord(root);
  const add = (step: Step | undefined) => step && plan.steps.push(step);
  const settings = join(root, SETTINGS);
  const without = (text: string) => withoutPlugin(text, settings);
  add(restoreFile(root, settings, record, without, "disable the plugin"));
  const claudeMd = join(root, "CLAUDE.md");
  add(restoreFile(root, claudeMd, record, withoutSection, "remove the plugin's section"));
  add(removeProjectFile(root, record));
  addServerRemoval(plan, root, claude);
  // A set-up or removal that was killed may leave only empty folders.
  if (plan.steps.length === 0 && record && record.folders.length > 0) {
    add({
      what: `remove the empty folders among ${record.folders.join(", ")}`,
      run: removeFolders,
    });
  }
  return plan;
}

/**
 * Applies a plan that the user has confirmed, except for the steps that another process has done since. Throws Failure,
 * also if more steps are necessary by now, or the system's error.
 */
export async function applyPlan(seen: Plan): Promise<void> {
  const { root, active } = seen;
  using lock = await waitForLock(recordPath(root, "lock"), LOCK_MS);
  if (!lock) throw new Failure(`another claude-code-nvim is changing ${root}; try again`);
  if (active) {
    ensureStablePath();
    linkStable(writePlugin(stablePath()));
  }
  const plan = seen.again();
  if (plan.steps.some(({ what }) => seen.steps.every((step) => step.what !== what))) {
    throw new Failure(`${root} was changed in the meantime; try again`);
  }
  const record: ProjectRecord = {
    ...(readRecord(root) ?? { files: {}, folders: [] }),
    root,
    active,
  };
  for (const file of [SETTINGS, "CLAUDE.md", PROJECT_FILE]) {
    removeOldDrafts(dirname(join(root, file)));
  }
  try {
    for (const step of plan.steps) await step.run(record);
    if (!active) removeFolders(record);
  } finally {
    writeRecord(record);
  }
}

function addChange(
  plan: Plan,
  root: string,
  name: string,
  what: string,
  change: (text: string | undefined) => string,
): void {
  const path = join(root, name);
  targetWithin(root, path);
  const before = readText(path);
  let after: string;
  try {
    after = change(before);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Failure(`${path} is nested too deeply to be edited: fix it first`);
  }
  if (after !== before) plan.steps.push(changeFile(root, path, after, what));
}

/** Neovim writes its address into this folder. The folder has its own .gitignore. */
function addProjectFile(plan: Plan, root: string): void {
  const folder = join(root, FOLDER);
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats && !stats.isDirectory()) {
    throw new Failure(`${folder} is not a folder (a symlink?): move it away first`);
  }
  const ignore = join(folder, ".gitignore");
  const address = process.env.NVIM;
  const writes = address !== undefined && whyUnsafe(address) === undefined;
  const current = readText(join(root, PROJECT_FILE))?.trim();
  const ignored = readText(ignore) !== undefined;
  if (ignored && (!writes || current === address)) return;
  plan.steps.push({
    what: ignored
      ? `write ${join(root, PROJECT_FILE)}: this Neovim's address`
      : `create ${folder}: this Neovim's address; git ignores the folder`,
    run(record) {
      makeFolder(folder, record);
      if (!ignored) {
        record.files[ignore] = { before: null, after: IGNORE_ALL };
        writeRecord(record);
        writePrivateFile(ignore, IGNORE_ALL);
      }
      if (writes) writePrivateFile(join(root, PROJECT_FILE), `${address}\n`);
    },
  });
}

/** Removes our files from the folder, and the folder if we made it and nothing else is in it. */
function removeProjectFile(root: string, record: ProjectRecord | undefined): Step | undefined {
  const folder = join(root, FOLDER);
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const file = join(root, PROJECT_FILE);
  const ignore = join(folder, ".gitignore");
  // Without a record, its content shows that it is ours.
  const isOurs = (!record || ignore in record.files) && readText(ignore) === IGNORE_ALL;
  if (!isOurs && readText(file) === undefined) return undefined;
  return {
    what: `remove from ${folder} what this program put there`,
    run(current) {
      rmSync(file, { force: true });
      if (isOurs) rmSync(ignore, { force: true });
      if (!record) current.folders.push(folder);
      delete current.files[ignore];
    },
  };
}

/** Version 0.1 added the server to the CLI's own configuration. Now the plugin brings it. */
function addServerRemoval(plan: Plan, root: string, claude: string | undefined): void {
  if (!hasOldServer(root)) return;
  const command = `claude ${REMOVE_ARGUMENTS.join(" ")}`;
  const found = claude === undefined ? findClaude() : { path: claude };
  const { path } = found;
  if (path === undefined) {
    plan.notes.push(`The Claude CLI: ${found.why}. Once it is found, run in ${root}: ${command}`);
    return;
  }
  plan.steps.push({
    what: `run ${command}`,
    async run() {
      const failure = await runClaude(path, REMOVE_ARGUMENTS, root);
      if (failure) throw new Failure(`${command} failed: ${failure}`);
    },
  });
}

/** Makes the stable path lead to this executable, unless a download has put a file there. */
function ensureStablePath(): void {
  const path = stablePath();
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  const executable = lastingName(process.execPath);
  replace(path, (draft) => {
    if (!IS_WINDOWS) return symlinkSync(executable, draft);
    // Symlinks need a privilege there, and a hard link cannot lead to another drive.
    try {
      linkSync(realPath(executable), draft);
    } catch {
      copyFileSync(executable, draft);
    }
  });
}

/**
 * The path in $PATH that leads to the executable, if there is one. A package manager keeps that path, and removes the
 * folder of this version when it upgrades.
 */
function lastingName(executable: string): string {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  const names = folders.map((folder) => join(folder, basename(executable)));
  return names.find((name) => isSameFile(name, executable)) ?? executable;
}

const BEGIN = "<!-- claude-code.nvim: LSP diagnostics (begin) -->";
const END = "<!-- claude-code.nvim: LSP diagnostics (end) -->";

/** Spec 04, "CLAUDE.md Instructions". */
const SECTION = `${BEGIN}
## LSP Diagnostics

When you edit files, the system checks for errors and warnings before you may end your turn, and asks you to fix them.
Ask the nvim-lsp MCP server yourself after an edit: \`get_session_diagnostics\` lists what is wrong in the files that you
edited, \`get_diagnostics\` what is wrong in any others. Fix errors before warnings. If you cannot fix an issue, add a
comment that explains why.
${END}
`;

/** Appends our section to CLAUDE.md, unless it has one. */
function withSection(text: string | undefined): string {
  if (text === undefined || text === "") return SECTION;
  if (text.includes(BEGIN)) return text;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text.endsWith("\n") ? eol : eol + eol;
  return text + gap + SECTION.replaceAll("\n", eol);
}

/** Removes our section from CLAUDE.md, and the empty line before it. */
function withoutSection(text: string): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END, begin);
  if (begin < 0 || end < 0) return text;
  const before = text.slice(0, begin).replace(/\r?\n(\r?\n)$/, "$1");
  return before + text.slice(end + END.length).replace(/^\r?\n/, "");
}
