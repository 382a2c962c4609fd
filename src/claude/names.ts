/** Our stdio server's name for Claude Code; its tools are `mcp__nvim-lsp__…`. */
export const SERVER_NAME = "nvim-lsp";

/** Our Claude Code plugin's name: the tools of its server are `mcp__plugin_NAME_nvim-lsp__…`. */
export const PLUGIN_NAME = "claude-code-nvim";

/** The tools of that server which change nothing: Claude Code need not ask before it calls one. */
export const READING_TOOLS = [
  "find_symbol",
  "find_references",
  "outline",
  "get_diagnostics",
  "get_diagnostic_context",
  "get_diagnostic_summary",
  "get_session_diagnostics",
  "editor_selection",
  "editor_position",
  "editor_buffers",
  "editor_context",
];

/** The tools of Claude Code that edit files (MultiEdit was one of older versions). */
export const EDITING_TOOLS = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

/** The permission modes in which the CLI (2.1.330) asks before an edit, and sends it to the editor. */
export const ASKING_MODES = ["default", "plan", "manual"];

/** Tools that may change any file: Bash, and those of MCP servers; our own record what they change. */
export const OTHER_TOOLS_MATCHER = `Bash|mcp__(?!ide__|${SERVER_NAME}__|plugin_${PLUGIN_NAME}_).*`;

/** The matcher for PostToolUse in Claude Code's settings. */
export const CHANGING_TOOLS_MATCHER = `${EDITING_TOOLS.join("|")}|${OTHER_TOOLS_MATCHER}`;
