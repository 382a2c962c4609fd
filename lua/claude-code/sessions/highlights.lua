--- The highlight groups of the bar that names the sessions.
return require("claude-code.lib.highlights").define("ClaudeCodeSession", {
  {
    name = "Blocked",
    link = "DiagnosticWarn",
    description = "the state of a session that needs input",
  },
  { name = "Working", link = "DiagnosticInfo", description = "of one that works" },
  { name = "Done", link = "DiagnosticOk", description = "of one that is done" },
  { name = "Error", link = "DiagnosticError", description = "of one that failed" },
  {
    name = "Idle",
    link = "Comment",
    description = "of one that is idle, or whose state is unknown",
  },
  { name = "Current", link = "Title", description = "the name of the session on screen" },
  {
    name = "Other",
    link = "Comment",
    description = "the names of the others, and what the bar says",
  },
})
