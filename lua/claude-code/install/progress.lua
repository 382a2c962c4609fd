--- Shows how far a download is, one short line at a time.
local M = {}

--- Percent between two lines. Without a UI, lines would only fill a log.
local STEP, STEP_HEADLESS = 1, 25

---@param total integer bytes
---@return fun(bytes: integer)
function M.new(total)
  local shown = -1
  return function(bytes)
    local percent = math.min(100, math.floor(100 * bytes / total))
    local step = #vim.api.nvim_list_uis() == 0 and STEP_HEADLESS or STEP
    if percent - shown >= step then
      shown = percent - percent % step
      local text = "%d %% of %.0f MB downloaded"
      require("claude-code.messages.notify").progress(text:format(percent, total / 1e6))
    end
  end
end

return M
