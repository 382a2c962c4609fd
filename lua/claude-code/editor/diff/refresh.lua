--- Follows the edits of a proposal, so that counts and colours stay true while it is edited.
local api, uv = vim.api, vim.uv

---How long after an edit all is brought up to date, in ms; and how many times longer than that takes.
local SHORTEST_MS, LONGEST_MS, PATIENCE = 10, 1000, 5

local M = {}

local timer ---@type uv.uv_timer_t?
local cost = 0 ---@type number ms the last update took

---@param update fun()
local function run(update)
  local started = uv.hrtime()
  update()
  cost = (uv.hrtime() - started) / 1e6
end

---@param session claude-code.Diff
---@param update fun() called soon after edits
function M.follow(session, update)
  M.stop()
  cost = 0
  local mine = assert(uv.new_timer())
  timer = mine
  local later = vim.schedule_wrap(function()
    if timer == mine then
      run(update)
    end
  end)
  local function changed()
    if timer ~= mine then
      return true
    end
    if not mine:is_active() then
      mine:start(math.min(math.max(SHORTEST_MS, cost * PATIENCE), LONGEST_MS), 0, later)
    end
  end
  api.nvim_buf_attach(session.new_buf, false, { on_lines = changed, on_reload = changed })
  mine:start(0, 0, later)
end

function M.stop()
  if timer then
    timer:stop()
    timer:close()
    timer = nil
  end
end

return M
