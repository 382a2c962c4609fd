--- The highlight groups of a review's signs, and of comments. Its bar and old lines have those of a diff.
return require("claude-code.lib.highlights").define("ClaudeCode", {
  { name = "ReviewAdd", link = "Added", description = "the sign of lines that Claude added" },
  { name = "ReviewChange", link = "Changed", description = "of lines that it changed" },
  { name = "ReviewDelete", link = "Removed", description = "of a place where it deleted lines" },
  { name = "Comment", link = "DiagnosticInfo", description = "a comment that waits to be sent" },
  { name = "CommentSent", link = "Comment", description = "one that was sent" },
})
