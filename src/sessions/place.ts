import { basename } from "node:path";
import { attempt } from "../lib/errors";
import { statOf } from "../lib/process";
import { onPath } from "../lib/programs";

const MAX_ANCESTORS = 20;
const PS_MS = 2_000;

interface Program {
  name: string;
  parent: number;
}

/** The place of a process from the point of view of one Neovim. */
export interface Place {
  /** "neovim" means another Neovim. */
  where: "here" | "neovim" | "outside";
  /** The process and its ancestors below that Neovim. */
  ancestors: number[];
}

/** Finds the Neovim in which a process runs. `neovim` is the process of the Neovim that asks. */
export function placeOf(pid: number, neovim: number): Place {
  const programOf = process.platform === "linux" ? fromStat : fromPs();
  const ancestors = [pid];
  for (let one = pid; ancestors.length <= MAX_ANCESTORS; ) {
    const program = programOf(one);
    if (program?.name === "nvim") return { where: "neovim", ancestors };
    if (program?.parent === neovim) return { where: "here", ancestors };
    if (!program || program.parent <= 1) break;
    one = program.parent;
    ancestors.push(one);
  }
  return { where: "outside", ancestors };
}

function fromStat(pid: number): Program | undefined {
  return attempt(() => statOf(pid));
}

function fromPs(): (pid: number) => Program | undefined {
  const all = programsByPs();
  return (pid) => all.get(pid);
}

/** All processes from ps(1). */
export function programsByPs(): Map<number, Program> {
  const command = [onPath("ps").path ?? "ps", "-A", "-o", "pid=,ppid=,comm="];
  const options = { env: { LC_ALL: "C" }, timeout: PS_MS };
  const shown = attempt(() => Bun.spawnSync(command, options).stdout.toString()) ?? "";
  const all = new Map<number, Program>();
  for (const [, pid, parent, path = ""] of shown.matchAll(/^ *(\d+) +(\d+) +(.*?) *$/gm)) {
    all.set(Number(pid), { parent: Number(parent), name: basename(path) });
  }
  return all;
}
