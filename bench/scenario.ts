import { join } from "node:path";

/** Values by the id of a figure. A figure is missing if the plugin cannot be measured. */
export type Values = Record<string, number>;

export interface Machine {
  /** The Neovim to measure in. */
  nvim: string;
  /** The compiled bare-program.ts. */
  bare: string;
  /** A share of the usual number of repetitions. */
  effort: number;
}

/** A plugin that follows the lock-file protocol. */
export interface Subject {
  name: string;
  /** A folder for 'runtimepath'. */
  runtimepath: string;
  /** The user's line of Lua. */
  setup: string;
  /** The program that hooks run. Hooks and the review are measured only with it. */
  hook?: string;
}

export interface Scenario {
  name: string;
  /** Measures the floors, without any plugin. */
  floor(machine: Machine): Promise<Values>;
  /** `floors` are floors that must be measured together with the values: the same time, but idle. */
  measure(machine: Machine, subject: Subject): Promise<{ values: Values; floors?: Values }>;
}

/** The plugin in the folder `tree`, where it is built. */
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

/** The quantile `q` (0 to 1) of the samples. */
export function quantile(samples: readonly number[], q: number): number {
  if (samples.length === 0) throw new Error("no samples");
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] as number;
}

export const median = (samples: readonly number[]) => quantile(samples, 0.5);

/** The time in ms of each of `count` runs of `work`, one after the other. */
export async function timings(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await work();
    samples.push(performance.now() - start);
  }
  return samples;
}
