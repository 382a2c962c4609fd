--- Messages to the person from this half.
return require("claude-code.notify")
