/** Claude Code knows our stdio server by this name. */
export const SERVER_NAME = "nvim-lsp";

/** The name of our plugin for Claude Code. A project's server of this name would replace the plugin's. */
export const PLUGIN_NAME = "claude-code-nvim";
export const PLUGIN_SERVER = `plugin:${PLUGIN_NAME}:${SERVER_NAME}`;
/** The name of the marketplace that the plugin's folder is, as a pattern: it ends with a random part. */
export const MARKETPLACE = `${PLUGIN_NAME}-[0-9a-f]{8}`;
/** The folder of the plugin that settings name, beside one folder for each content. */
export const STABLE_PLUGIN = "current";

/** Claude Code's name of a tool of that server, which the plugin brings. */
export const toolName = (tool: string) => `mcp__plugin_${PLUGIN_NAME}_${SERVER_NAME}__${tool}`;

/** These tools of our server change nothing, so Claude Code need not ask before it calls one. */
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

/** Claude Code's tools that edit files. Only older versions have MultiEdit. */
export const EDITING_TOOLS = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

/** In these permission modes the CLI (2.1.330) asks before an edit, and shows it in the editor. */
export const ASKING_MODES = ["default", "plan", "manual"];

/** Our tools that change files, and record what they change. */
const CHANGING_TOOLS = ["rename_symbol", "code_action"];

/** Bash, shell lines of skills and MCP tools may change any file; a project's server may have a name like ours. */
export const OTHER_TOOLS_MATCHER = `Bash|Skill|(?!(?:${[...READING_TOOLS, ...CHANGING_TOOLS].map(toolName).join("|")})$)mcp__(?!ide__).*`;

/** The matcher for PostToolUse in Claude Code's settings. */
export const CHANGING_TOOLS_MATCHER = `${EDITING_TOOLS.join("|")}|${OTHER_TOOLS_MATCHER}`;
