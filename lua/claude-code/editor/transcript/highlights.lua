--- The highlight groups of a conversation.
return require("claude-code.lib.highlights").define("ClaudeCodeTranscript", {
  { name = "Prompt", link = "CursorLine", description = "the lines of your prompts" },
  { name = "Note", link = "Comment", description = "beside a line: a time, how long a result is" },
  { name = "Bar", link = "Title", description = "whose window it is, above what Claude reads" },
  { name = "Followed", link = "Visual", description = "the lines that Claude reads or edits" },
  { name = "Failed", link = "DiagnosticError", description = "a call that failed" },
})
