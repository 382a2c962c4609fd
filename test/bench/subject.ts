import { ROOT } from "../support/neovim";

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

export function ownSubject(executable: string): Subject {
  return {
    name: "claude-code.nvim",
    runtimepath: ROOT,
    setup: 'require("claude-code").setup({})',
    hook: executable,
  };
}
