--- When to look at the selection: once nothing has moved for the debounce time. What runs on each
--- cursor movement only notes the time; the timer, not the movement, finds out whether it is over.
local api, uv = vim.api, vim.uv
local region = require("claude-code.editor.selection.visual")

---@class claude-code.SelectionEvents
---@field still fun() nothing has moved for the debounce time
---@field begun fun() a visual mode was entered
---@field left fun(mode: claude-code.VisualMode) it was left
---@field entering fun() another window has become the current one
---@field leaving fun() another window is about to become the current one

local M = {}

local VISUAL = "[vV\22sS\19]*"

local events ---@type claude-code.SelectionEvents?
local group ---@type integer?
local cursor_group ---@type integer?
local timer ---@type uv.uv_timer_t?
local debounce = 300
local armed = false
local touched_at = 0
local check

local function touch()
  touched_at = uv.now()
  if not armed then
    armed = true
    timer:start(debounce, 0, check)
  end
end

---@return integer ms until the debounce time is over
local function rest()
  return debounce - (uv.now() - touched_at)
end

---The command line may move the cursor for a while ('incsearch').
local function on_command_line()
  return api.nvim_get_mode().mode:sub(1, 1) == "c"
end

local settle = vim.schedule_wrap(function()
  if not events or not timer then
    return
  elseif rest() > 0 then
    timer:start(rest(), 0, check)
  elseif on_command_line() then
    timer:start(math.max(debounce, 50), 0, check)
  else
    armed = false
    events.still()
  end
end)

function check()
  local left = rest()
  if left > 0 then
    timer:start(left, 0, check)
  else
    settle()
  end
end

---@param args { match: string }
local function mode_changed(args)
  local before, after = args.match:match("^(.-):(.*)$")
  local was, is = region.mode(before), region.mode(after)
  if is and not was then
    events.begun()
  elseif was and not is then
    events.left(was)
  end
  touch()
end

---Follows cursor movements, or stops to.
---@param wanted boolean
function M.follow_cursor(wanted)
  if not group or wanted == (cursor_group ~= nil) then
    return
  elseif not wanted then
    api.nvim_del_augroup_by_id(cursor_group --[[@as integer]])
    cursor_group = nil
    return
  end
  cursor_group = api.nvim_create_augroup("claude-code.selection.cursor", { clear = true })
  api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI", "TextChanged" }, {
    group = cursor_group,
    callback = touch,
  })
end

---@param debounce_ms integer
---@param handlers claude-code.SelectionEvents
function M.start(debounce_ms, handlers)
  M.stop()
  debounce, events = debounce_ms, handlers
  timer = assert(uv.new_timer())
  group = api.nvim_create_augroup("claude-code.selection", { clear = true })
  api.nvim_create_autocmd("ModeChanged", {
    group = group,
    pattern = { VISUAL .. ":*", "*:" .. VISUAL },
    callback = mode_changed,
  })
  api.nvim_create_autocmd({ "BufEnter", "BufUnload", "BufFilePost" }, {
    group = group,
    callback = touch,
  })
  api.nvim_create_autocmd("WinEnter", {
    group = group,
    callback = function()
      handlers.entering()
      touch()
    end,
  })
  api.nvim_create_autocmd("WinLeave", {
    group = group,
    callback = function()
      handlers.leaving()
    end,
  })
  touch()
end

function M.stop()
  if not group then
    return
  end
  M.follow_cursor(false)
  api.nvim_del_augroup_by_id(group)
  group, events = nil, nil
  if timer then
    timer:stop()
    timer:close()
    timer = nil
  end
  armed = false
end

return M
