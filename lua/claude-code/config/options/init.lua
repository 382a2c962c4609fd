--- The options of setup(), in the order of the help: validation, defaults, the help and types.lua come from here.
--- They take half a millisecond to load. After a change run `bun run docs`.
local options = {} ---@type claude-code.Option[]
for _, file in ipairs({ "server", "terminal", "claude", "diff", "review", "diagnostics" }) do
  vim.list_extend(options, require("claude-code.config.options." .. file))
end
return options
