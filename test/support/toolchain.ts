import { describe, test } from "bun:test";
import { existsSync, realpathSync } from "node:fs";
import { join, normal } from "../../src/lib/platform";

export const ROOT = normal(realpathSync(join(import.meta.dir, "../..")));
export const TOOLCHAIN = process.env.CLAUDE_CODE_NVIM_TOOLCHAIN ?? join(ROOT, ".toolchain");

export const EXECUTABLE = process.env.CLAUDE_CODE_NVIM_EXE ?? join(ROOT, "dist/claude-code-nvim");

export interface NeovimVersion {
  readonly name: string;
  /** Throws an error with advice if this Neovim is missing. */
  readonly binary: string;
}

/** Whether every case runs, as in `scripts/test --all`. */
export const ALL = process.env.CLAUDE_CODE_NVIM_TEST_ALL === "1";

/**
 * Further cases, of `scripts/test --all` alone: sizes at a limit, waits in real time, kills and races that are
 * tried again and again, and variants of cases that each run tests.
 */
export const nightly = {
  test: ALL ? test : without<typeof test>(),
  describe: ALL ? describe : without<typeof describe>(),
};

/** Cases of one rule: the run of each change takes the first ones, `scripts/test --all` every one. */
export const first = <Case>(count: number, cases: readonly Case[]): Case[] =>
  cases.slice(0, ALL ? cases.length : count);

export const OLDEST = neovim("Neovim 0.10", "NVIM_0_10", "neovim-0.10/bin/nvim");
export const NEWEST = neovim("Neovim 0.12", "NVIM_0_12", "neovim-0.12/bin/nvim");

/** For tests of Lua code that differs for an older Neovim. */
export const BOTH_NEOVIMS: NeovimVersion[] = [OLDEST, NEWEST];
/** For all other tests of the editor: the oldest one takes part in `scripts/test --all`. */
export const NEOVIMS: NeovimVersion[] = ALL ? BOTH_NEOVIMS : [NEWEST];

/** The genuine Claude Code CLI, in the version whose behaviour we know. */
export function claudeCli(): string {
  return tool("CLAUDE_CLI", "claude/bin/claude");
}

/** Takes the function's arguments, and does nothing. */
function without<Tests>(): Tests {
  const nothing = () => {};
  return Object.assign(() => {}, { concurrent: nothing, each: () => nothing }) as unknown as Tests;
}

function neovim(name: string, variable: string, place: string): NeovimVersion {
  return {
    name,
    get binary() {
      return tool(variable, place);
    },
  };
}

/** A test that cannot run fails with advice. */
function tool(variable: string, place: string): string {
  const path = process.env[variable] ?? join(TOOLCHAIN, place);
  if (!existsSync(path)) throw new Error(`no ${variable} at ${path}: run scripts/toolchain`);
  return path;
}
