import { join } from "node:path";

/** By the id of a figure; a figure that a plugin has no answer for is left out. */
export type Values = Record<string, number>;

export interface Machine {
  /** The Neovim to measure in. */
  nvim: string;
  /** bare-program.ts, compiled. */
  bare: string;
  /** Share of the usual number of repetitions. */
  effort: number;
}

/** A plugin that follows the lock-file protocol. */
export interface Subject {
  name: string;
  /** Folder for 'runtimepath'. */
  runtimepath: string;
  /** The line of Lua that a user writes. */
  setup: string;
  /** The program that hooks run; without it, neither hooks nor the review are measured. */
  hook?: string;
}

export interface Scenario {
  name: string;
  /** Measures the floors, without any plugin. */
  floor(machine: Machine): Promise<Values>;
  /** `floors` are those that only make sense beside the values: the same time, but idle. */
  measure(machine: Machine, subject: Subject): Promise<{ values: Values; floors?: Values }>;
}

/** This plugin as it is in the folder `tree`, where it is built. */
export function ownSubject(tree: string): Subject {
  return {
    name: "claude-code.nvim",
    runtimepath: tree,
    setup: 'require("claude-code").setup({})',
    hook: join(tree, "dist/claude-code-nvim"),
  };
}

export function repetitions(machine: Machine, usual: number): number {
  return Math.max(3, Math.round(usual * machine.effort));
}

/** The value below which the share `q` (0 to 1) of the samples lies. */
export function quantile(samples: readonly number[], q: number): number {
  if (samples.length === 0) throw new Error("no samples");
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] as number;
}

export const median = (samples: readonly number[]) => quantile(samples, 0.5);

/** How long each of `count` runs of `work` takes, one after the other, in ms. */
export async function timings(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await work();
    samples.push(performance.now() - start);
  }
  return samples;
}
