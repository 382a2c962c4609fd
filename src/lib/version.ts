import { version } from "../../package.json";

export const NAME = "claude-code.nvim";
export const VERSION: string = version;

/**
 * Counts the changes of what the executable and the Lua plugin say to each other. It must equal
 * `lua/claude-code/install/contract.lua`; a test compares them.
 */
export const CONTRACT = 2;
