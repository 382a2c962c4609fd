--- Follows the edits of a proposal, so that counts and colours stay true while it is edited.
local api, uv = vim.api, vim.uv

---How long after an edit all is brought up to date, in ms; and how many times longer than that takes.
local SHORTEST_MS, LONGEST_MS, COST_FACTOR = 10, 1000, 5

local M = {}

---Calls `update` now, and soon after each edit.
---@param buf integer
---@param update fun()
---@return fun() stop
function M.on_edit(buf, update)
  local timer = assert(uv.new_timer())
  local cost = 0 ---@type number ms the last update took
  local run = vim.schedule_wrap(function()
    if not timer:is_closing() then
      local started = uv.hrtime()
      update()
      cost = (uv.hrtime() - started) / 1e6
    end
  end)
  local function changed()
    if timer:is_closing() then
      return true
    elseif not timer:is_active() then
      timer:start(math.min(math.max(SHORTEST_MS, cost * COST_FACTOR), LONGEST_MS), 0, run)
    end
  end
  api.nvim_buf_attach(buf, false, { on_lines = changed, on_reload = changed })
  timer:start(0, 0, run)
  return function()
    if not timer:is_closing() then
      timer:close()
    end
  end
end

return M
