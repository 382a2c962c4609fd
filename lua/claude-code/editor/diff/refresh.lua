--- Follows the edits of a proposal, so that counts and colours stay true while it is edited.
---Times in ms. In a big file an update is dear: it takes a fifth of the time at most.
local UPDATE = { min_ms = 10, max_ms = 1000, share = 0.2 }

local M = {}

---Calls `update` soon, and soon after each edit.
---@param buf integer
---@param update fun()
---@return fun() stop
function M.on_edit(buf, update)
  local is_stopped = false
  local update_soon, cancel = require("claude-code.lib.timer").throttle(UPDATE, update)
  local function changed()
    if is_stopped then
      return true
    end
    update_soon()
  end
  vim.api.nvim_buf_attach(buf, false, { on_lines = changed, on_reload = changed })
  update_soon()
  return function()
    is_stopped = true
    cancel()
  end
end

return M
