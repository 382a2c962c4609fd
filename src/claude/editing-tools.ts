import { PLUGIN_NAME, SERVER_NAME } from "./names";

/** The tools of Claude Code that edit files (MultiEdit was one of older versions). */
export const EDITING_TOOLS = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

/** Tools that may change any file: Bash, and those of MCP servers; our own record what they change. */
export const OTHER_TOOLS_MATCHER = `Bash|mcp__(?!ide__|${SERVER_NAME}__|plugin_${PLUGIN_NAME}_).*`;

/** What `hooks` in Claude Code's settings say for PostToolUse. */
export const CHANGING_TOOLS_MATCHER = `${EDITING_TOOLS.join("|")}|${OTHER_TOOLS_MATCHER}`;
