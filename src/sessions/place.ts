import { attempt } from "../lib/errors";
import { basename, IS_LINUX } from "../lib/platform";
import { statOf } from "../lib/process";
import { onPath } from "../lib/programs";

const MAX_ANCESTORS = 20;
const PS_MS = 2_000;

/** The place of a process from the point of view of one Neovim. */
export interface Place {
  /** "neovim" means another Neovim. */
  where: "here" | "neovim" | "outside";
  /** The process and its ancestors below that Neovim. */
  ancestors: number[];
}

/** Finds the Neovim in which a process runs. `neovim` is the process of the Neovim that asks. */
export function placeOf(pid: number, neovim: number): Place {
  const all = IS_LINUX ? undefined : programsByPs();
  const ancestors = [pid];
  for (let one = pid; ancestors.length <= MAX_ANCESTORS; ) {
    const program = all ? all.get(one) : attempt(() => statOf(one));
    if (program?.name === "nvim") return { where: "neovim", ancestors };
    if (program?.parent === neovim) return { where: "here", ancestors };
    if (!program || program.parent <= 1) break;
    one = program.parent;
    ancestors.push(one);
  }
  return { where: "outside", ancestors };
}

/** All processes from ps(1). */
export function programsByPs() {
  const command = [onPath("ps").path ?? "ps", "-A", "-o", "pid=,ppid=,comm="];
  const options = { env: { LC_ALL: "C" }, timeout: PS_MS };
  const shown = attempt(() => Bun.spawnSync(command, options).stdout.toString()) ?? "";
  const all = new Map<number, { name: string; parent: number }>();
  for (const [, pid, parent, path = ""] of shown.matchAll(/^ *(\d+) +(\d+) +(.*?) *$/gm)) {
    all.set(Number(pid), { parent: Number(parent), name: basename(path) });
  }
  return all;
}
