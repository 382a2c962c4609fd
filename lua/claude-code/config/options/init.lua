--- The options of setup(), said once, in the order of the help: defaults, validation, the help and types.lua
--- come from here. To load them takes half a millisecond. After a change run `bun run docs`.
local options = {} ---@type claude-code.Option[]
for _, file in ipairs({ "server", "terminal", "claude", "changes", "diagnostics" }) do
  vim.list_extend(options, require("claude-code.config.options." .. file))
end
return options
