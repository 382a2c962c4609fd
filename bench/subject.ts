import { join } from "node:path";

/** A plugin that follows the lock-file protocol, or nothing: the floor under all of them. */
export interface Subject {
  name: string;
  /** Folder for 'runtimepath'. */
  runtimepath: string;
  /** The line of Lua that a user writes. */
  setup: string;
  /** The program that hooks run; without it hooks are not measured. */
  hook?: string;
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
