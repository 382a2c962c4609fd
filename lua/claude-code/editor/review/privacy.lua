--- The executable gets the options `privacy.*`, for hooks: they run where no Neovim does.
local M = {}

local function send()
  local options = require("claude-code.config").get().privacy
  local params = { defaults = options.defaults, patterns = options.patterns }
  require("claude-code.editor.review.client").request("privacy", params, function(_, problem)
    if problem then
      require("claude-code.messages.log").warn(
        "Hooks do not know the options privacy.*: " .. problem
      )
    end
  end)
end

---At every attach, and when the options change.
function M.start()
  require("claude-code.config").on_change("privacy", send)
  send()
end

return M
