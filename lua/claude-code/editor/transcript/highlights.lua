--- The highlight groups of a conversation.
return require("claude-code.lib.highlights").define("ClaudeCodeTranscript", {
  { name = "Prompt", link = "CursorLine", description = "the lines of your prompts" },
  { name = "Note", link = "Comment", description = "beside a line: a time, how long a result is" },
  { name = "Failed", link = "DiagnosticError", description = "a call that failed" },
})
