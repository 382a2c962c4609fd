--- Side by side: the file on disk on the left, the proposal on the right.
return require("claude-code.editor.diff.layout.split").layout("right")
