import type { Subject } from "./subject";

/** By the id of a figure; a figure that a plugin has no answer for is left out. */
export type Values = Record<string, number>;

/** What the scenarios share. */
export interface Machine {
  /** The Neovim to measure in. */
  nvim: string;
  /** bare-program.ts, compiled. */
  bare: string;
  /** Share of the usual number of repetitions. */
  effort: number;
}

export interface Scenario {
  name: string;
  /** Measures the floors, without any plugin. */
  floor(machine: Machine): Promise<Values>;
  /** `floors` are those that only make sense beside the values: the same time, but idle. */
  measure(machine: Machine, subject: Subject): Promise<{ values: Values; floors?: Values }>;
}

export function repetitions(machine: Machine, usual: number): number {
  return Math.max(3, Math.round(usual * machine.effort));
}
