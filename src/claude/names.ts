/** Our stdio server's name for Claude Code; its tools are `mcp__nvim-lsp__…`. */
export const SERVER_NAME = "nvim-lsp";

/** Our Claude Code plugin's name: the tools of its server are `mcp__plugin_NAME_nvim-lsp__…`. */
export const PLUGIN_NAME = "claude-code-nvim";
