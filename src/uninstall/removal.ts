import { existsSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { message } from "../lib/errors";
import { isThere, removeEmptyFolder, stablePath, stateFolder } from "../lib/paths";
import { entries } from "../locate/registry";
import { packageFiles } from "../package/prefix";
import { applyPlan, planUninstall } from "../setup/plan";
import { activeProjects } from "../setup/record";

/** One thing that `uninstall` takes away. */
export interface Removal {
  /** For the user who is asked. */
  what: string;
  /** Throws UserError or the system's error. */
  remove(): void | Promise<void>;
}

interface Options {
  /** Where `install --prefix` put things; undefined: where the executable that runs is installed. */
  prefix: string | undefined;
  /** The Claude CLI, if it is not the one on $PATH. */
  claude: string | undefined;
}

/**
 * What there is to remove, in this order: the hooks in projects, since their records go with the
 * state; then the files of a prefix; then downloads and state.
 */
export function planRemoval({ prefix, claude }: Options): { removals: Removal[]; notes: string[] } {
  const projects = activeProjects().map((root) => project(root, claude));
  const place = prefix ?? ownPrefix();
  const files = place === undefined ? [] : packageFiles(place);
  const folders = [
    folder(dirname(dirname(stablePath())), "downloaded executables"),
    folder(stateFolder(), "state: the registry of Neovims, set-up projects, reviews, logs"),
  ];
  const removals = [
    ...projects.flatMap((one) => one.removals),
    ...files.filter((path) => isThere(path)).map((path) => fileOf(path, place ?? "")),
    ...folders.filter((removal) => removal !== undefined),
  ];
  return { removals, notes: [...projects.flatMap(({ notes }) => notes), ...whatStays(place)] };
}

/** One that cannot be undone does not keep the others: a note says why. */
function project(root: string, claude: string | undefined) {
  const nothing: { removals: Removal[]; notes: string[] } = { removals: [], notes: [] };
  if (!existsSync(root)) return nothing;
  try {
    const plan = planUninstall(root, claude);
    if (plan.steps.length === 0) return nothing;
    const what = `in ${root}: ${plan.steps.map((step) => step.what).join("; ")}`;
    return { removals: [{ what, remove: () => applyPlan(plan) }], notes: plan.notes };
  } catch (error) {
    const why = `The hooks in ${root} stay: ${message(error)}. Fix that before you go on.`;
    return { ...nothing, notes: [why] };
  }
}

/** The prefix of the executable that runs, if `install --prefix` has put it there. */
function ownPrefix(): string | undefined {
  const bin = dirname(realpathSync(process.execPath));
  const prefix = dirname(bin);
  const isInstalled = basename(bin) === "bin" && packageFiles(prefix).every(isThere);
  return isInstalled ? prefix : undefined;
}

function fileOf(path: string, prefix: string): Removal {
  return {
    what: path,
    remove() {
      rmSync(path, { recursive: true });
      removeEmpty(dirname(path), prefix);
    },
  };
}

/** Folders that are left empty below the prefix; others may have made them, but nothing is in them. */
function removeEmpty(path: string, prefix: string): void {
  for (let at = path; at !== prefix && at.startsWith(prefix); at = dirname(at)) {
    if (!removeEmptyFolder(at)) return;
  }
}

function folder(path: string, what: string): Removal | undefined {
  if (!isThere(path)) return undefined;
  return { what: `${path} (${what})`, remove: () => rmSync(path, { recursive: true }) };
}

function whatStays(prefix: string | undefined): string[] {
  const running = entries().length;
  return [
    "What stays: the plugin where a plugin manager put it, its line in your init.lua, Neovim's own log " +
      "folder, and Claude Code's own files.",
    ...(prefix === undefined && process.execPath.includes("/Cellar/")
      ? ["Homebrew removes its own: brew uninstall claude-code-nvim"]
      : []),
    ...(running > 0 ? [`Neovims that run the plugin now: ${running}. Close them first.`] : []),
  ];
}
