/** The tools of Claude Code that edit files (MultiEdit was one of older versions). */
export const EDITING_TOOLS = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

/** What `hooks` in Claude Code's settings say for PostToolUse. */
export const EDITING_TOOLS_MATCHER = EDITING_TOOLS.join("|");
