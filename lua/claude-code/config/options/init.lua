--- The options of setup(), said once: defaults, validation, the help and types.lua come from here.
--- After a change run `bun run docs`.

---@type claude-code.Option[]
local options = {}
for _, group in ipairs({
  "server",
  "terminal",
  "sessions",
  "claude",
  "diff",
  "review",
  "diagnostics",
  "language",
}) do
  vim.list_extend(options, require("claude-code.config.options." .. group))
end
return options
