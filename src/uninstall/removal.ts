import { existsSync, lstatSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { stablePath, stateFolder } from "../lib/paths";
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
  const projects = activeProjects().flatMap((root) => project(root, claude));
  const place = prefix ?? ownPrefix();
  const files = place === undefined ? [] : packageFiles(place);
  const folders = [
    folder(dirname(dirname(stablePath())), "downloaded executables"),
    folder(stateFolder(), "state: the registry of Neovims, set-up projects, reviews, logs"),
  ];
  const removals = [
    ...projects.map(({ removal }) => removal),
    ...files.filter((path) => isThere(path)).map((path) => fileOf(path, place ?? "")),
    ...folders.filter((removal) => removal !== undefined),
  ];
  return { removals, notes: [...projects.flatMap(({ notes }) => notes), ...whatStays(place)] };
}

function project(root: string, claude: string | undefined) {
  if (!existsSync(root)) return [];
  const plan = planUninstall(root, claude);
  const steps = plan.steps.map(({ what }) => what).join("; ");
  if (plan.steps.length === 0) return [];
  const removal = { what: `in ${root}: ${steps}`, remove: () => applyPlan(plan) };
  return [{ removal, notes: plan.notes }];
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
    try {
      rmdirSync(at);
    } catch {
      return;
    }
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

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
