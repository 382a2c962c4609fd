--- The options of setup(), in the order of the help: validation, the help and types.lua come from here, their
--- defaults from defaults.lua. To load them takes half a millisecond. After a change run `bun run docs`.
local options = {} ---@type claude-code.Option[]
for _, file in ipairs({ "server", "terminal", "claude", "changes", "diagnostics" }) do
  vim.list_extend(options, require("claude-code.config.options." .. file))
end
return options
