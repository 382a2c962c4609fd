--- One above the other: the file on disk above, the proposal below.
return require("claude-code.editor.diff.layout.split").layout("below")
