--- When to look at the selection: once nothing has moved for the debounce time.
local api = vim.api
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
local touch ---@type fun()
local cancel ---@type fun()

local function look()
  -- There the cursor may be on a search's match ('incsearch'). CmdlineLeave looks again.
  if events and api.nvim_get_mode().mode:sub(1, 1) ~= "c" then
    events.still()
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
  events = handlers
  touch, cancel = require("claude-code.timer").debounce(debounce_ms, look)
  group = api.nvim_create_augroup("claude-code.selection", { clear = true })
  api.nvim_create_autocmd("ModeChanged", {
    group = group,
    pattern = { VISUAL .. ":*", "*:" .. VISUAL },
    callback = mode_changed,
  })
  api.nvim_create_autocmd({ "BufEnter", "BufUnload", "BufFilePost", "CmdlineLeave" }, {
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
  cancel()
end

return M
