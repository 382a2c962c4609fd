import { description, version } from "../../package.json";

export const NAME = "claude-code.nvim";
export const VERSION: string = version;
export const DESCRIPTION: string = description;

/** The version of the protocol between executable and plugin. A test compares it with lua's install/contract.lua. */
export const CONTRACT = 2;
