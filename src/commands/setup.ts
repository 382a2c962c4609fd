import { homedir } from "node:os";
import { Failure } from "../lib/errors";
import { gitTop } from "../lib/git-folder";
import { print } from "../lib/output";
import { isBelow, realPath, statOf } from "../lib/paths";
import { visibleName } from "../lib/visible";
import { applyPlan, planInstall, planUninstall } from "../setup/plan";
import { readRecord } from "../setup/record";
import type { Plan } from "../setup/step";
import { isConfirmed, parseOptions } from "./arguments";

const OPTIONS = {
  project: { type: "string" },
  claude: { type: "string" },
  yes: { type: "boolean", short: "y" },
  "dry-run": { type: "boolean" },
  once: { type: "boolean" },
  "claude-md": { type: "boolean" },
} as const;
const USAGE = "install-hooks|uninstall-hooks [--project DIR] [--claude-md] [--dry-run] [--yes]";

/** `claude-code-nvim install-hooks` sets a project up for a Claude CLI outside of Neovim. */
export const installHooks = (args: string[]) => runSetup(args, true);

/** `claude-code-nvim uninstall-hooks` undoes what `install-hooks` did in a project. */
export const uninstallHooks = (args: string[]) => runSetup(args, false);

/**
 * Shows a plan, asks unless --yes is given, and applies it. Returns the exit code: 0 if all is done, 1 if the user
 * declined. Throws Failure or the system's error.
 */
async function runSetup(args: string[], active: boolean): Promise<number> {
  const options = parseOptions(args, OPTIONS, USAGE);
  const root = projectRoot(options.project ?? process.cwd());
  if (options.once && readRecord(root)) return 0;
  const { claude, "claude-md": claudeMd = false } = options;
  const plan = active ? planInstall(root, { claude, claudeMd }) : planUninstall(root, claude);
  print(`${describe(plan, root, active)}\n`);
  if (plan.steps.length === 0 || options["dry-run"]) return 0;
  if (!options.yes && !isConfirmed()) return 1;
  await applyPlan(plan);
  print(active ? "Done. New Claude sessions use it.\n" : "Done.\n");
  return 0;
}

function describe({ steps, notes }: Plan, root: string, active: boolean): string {
  const done = active ? "everything is in place already." : "there is nothing to undo.";
  const head = steps.length === 0 ? `In ${root} ${done}` : `In ${root}:`;
  const lines = [head, ...steps.map(({ what }) => `  ${what}`), ...notes];
  return lines.map(visibleName).join("\n");
}

/**
 * The real path of the project that a folder belongs to. By Claude Code's rule that is the top of its git repository,
 * or else the folder itself. Throws Failure for the home folder and those above it: their settings apply everywhere.
 */
function projectRoot(folder: string): string {
  if (!statOf(folder)) throw new Failure(`there is no folder ${folder}`);
  const real = realPath(folder);
  const top = gitTop(real);
  const root = top !== undefined && !isHomeOrAbove(top) ? top : real;
  if (isHomeOrAbove(root)) {
    throw new Failure(
      `${root} is not a project: its Claude settings apply to all your work. Go to a project's folder first`,
    );
  }
  return root;
}

function isHomeOrAbove(folder: string): boolean {
  return isBelow(realPath(homedir()), folder);
}
