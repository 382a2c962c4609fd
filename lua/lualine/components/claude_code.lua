--- The component `claude_code` of nvim-lualine/lualine.nvim.
local Component = require("lualine.component"):extend()

local function highlight()
  return require("claude-code.statusline").highlight()
end

function Component:init(options)
  options.color = options.color or highlight
  Component.super.init(self, options)
end

function Component.update_status()
  return require("claude-code").statusline()
end

return Component
