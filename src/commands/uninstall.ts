import { existsSync, lstatSync, readlinkSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { attempt, message } from "../lib/errors";
import { print, printError } from "../lib/output";
import {
  isBelow,
  isThere,
  realPath,
  removeEmptyFolder,
  stablePath,
  stateFolder,
} from "../lib/paths";
import { dirname, IS_WINDOWS, join, normal } from "../lib/platform";
import { visibleName } from "../lib/visible";
import { entries } from "../locate/registry";
import { applyPlan, planUninstall } from "../setup/plan";
import { activeProjects } from "../setup/record";
import { isConfirmed, parseOptions } from "./arguments";

const OPTIONS = {
  claude: { type: "string" },
  yes: { type: "boolean", short: "y" },
  "dry-run": { type: "boolean" },
} as const;
const USAGE = "uninstall [--dry-run] [--yes]";

/** One thing to remove. The user confirms all of them together. */
interface Removal {
  /** Shown to the user. */
  what: string;
  /** Throws Failure or the system's error. */
  remove(): void | Promise<void>;
}

/**
 * `claude-code-nvim uninstall` removes everything that this program, the plugin's download and install.sh put on the
 * disk, and disables the plugin in all projects that were set up. It lists everything first, and asks unless --yes is
 * given. Returns the exit code: 0 if all is done, 1 if the user declined or something failed.
 */
export async function uninstall(args: string[]): Promise<number> {
  const options = parseOptions(args, OPTIONS, USAGE);
  const { removals, notes } = planRemoval(options.claude);
  const head = removals.length === 0 ? "No part of claude-code.nvim is installed." : "To remove:";
  const lines = [head, ...removals.map(({ what }) => `  ${what}`), ...notes];
  print(`${lines.map(visibleName).join("\n")}\n`);
  if (removals.length === 0 || options["dry-run"]) return 0;
  if (!options.yes && !isConfirmed()) return 1;
  const failed = await removeAll(removals);
  print(failed === 0 ? "Done.\n" : `${failed} of ${removals.length} could not be removed.\n`);
  return failed === 0 ? 0 : 1;
}

/** Continues after a failure. Returns the number of failures. */
async function removeAll(removals: Removal[]): Promise<number> {
  let failed = 0;
  for (const { what, remove } of removals) {
    try {
      await remove();
    } catch (error) {
      failed += 1;
      printError(`${what}: ${message(error)}\n`);
    }
  }
  return failed;
}

/** The projects come first, since removing the state folder removes their records. */
function planRemoval(claude: string | undefined): { removals: Removal[]; notes: string[] } {
  const projects = activeProjects().map((root) => project(root, claude));
  const root = dirname(dirname(stablePath()));
  const removals = [
    ...projects.flatMap((one) => one.removals),
    ...pluginLink(root),
    ...folder(root, "the executable, its plugin for Claude Code, and the plugin of install.sh"),
    ...folder(stateFolder(), "state: the registry of Neovims, set-up projects, reviews, logs"),
  ];
  return { removals, notes: [...projects.flatMap(({ notes }) => notes), ...whatStays()] };
}

/** If the set-up of a project cannot be undone, a note says why, and the others are still removed. */
function project(root: string, claude: string | undefined) {
  const nothing: { removals: Removal[]; notes: string[] } = { removals: [], notes: [] };
  if (!existsSync(root)) return nothing;
  try {
    const plan = planUninstall(root, claude);
    if (plan.steps.length === 0) return nothing;
    const what = `in ${root}: ${plan.steps.map((step) => step.what).join("; ")}`;
    return { removals: [{ what, remove: () => applyPlan(plan) }], notes: plan.notes };
  } catch (error) {
    const why = `The plugin stays enabled in ${root}: ${message(error)}. Fix that before you go on.`;
    return { ...nothing, notes: [why] };
  }
}

/** The symlink by which Neovim finds the plugin that install.sh put below `root`. */
function pluginLink(root: string): Removal[] {
  const pack = join(
    dirname(root),
    process.env.NVIM_APPNAME || "nvim",
    "site/pack/claude-code.nvim",
  );
  const link = join(pack, "start/claude-code.nvim");
  const isLink = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink();
  if (!isLink || !isBelow(normal(readlinkSync(link)), root)) return [];
  const remove = () => {
    rmSync(link);
    removeEmptyFolder(dirname(link));
    removeEmptyFolder(pack);
  };
  return [{ what: `${link} (a symlink to the plugin)`, remove }];
}

function folder(path: string, what: string): Removal[] {
  if (!isThere(path)) return [];
  const remove = () => {
    if (IS_WINDOWS) moveOurselvesOutOf(path);
    // It may have been in a folder that is removed by now.
    rmSync(path, { recursive: true, force: true });
  };
  return [{ what: `${path} (${what})`, remove }];
}

/** Windows moves the file of a running program, but does not remove it. */
function moveOurselvesOutOf(folder: string): void {
  for (const path of [stablePath(), realPath(process.execPath)]) {
    const away = join(tmpdir(), `claude-code-nvim-${crypto.randomUUID()}.exe`);
    if (isBelow(path, folder)) attempt(() => renameSync(path, away));
  }
}

function whatStays(): string[] {
  const running = entries().length;
  return [
    "Not removed: the plugin of a plugin manager, the program of Homebrew, the plugin's line in your " +
      "init.lua, Neovim's own log folder, and Claude Code's own files.",
    ...(running > 0 ? [`Neovims that run the plugin now: ${running}. Close them first.`] : []),
  ];
}
