--- The events after which something else may be selected.
local api = vim.api
local visual = require("claude-code.editor.selection.visual")

---@class claude-code.SelectionHandlers
---@field idle fun() nothing has moved for the debounce time
---@field visual_enter fun()
---@field visual_leave fun(mode: claude-code.VisualMode)
---@field win_enter fun()
---@field win_leave fun()

---@class claude-code.SelectionWatch
---@field private group integer
---@field private cursor_group? integer
---@field private touch fun() begins the debounce time again
---@field private cancel_touch fun()
local Watch = {}
Watch.__index = Watch

local M = {}

local VISUAL = "[vV\22sS\19]*"

---@param handlers claude-code.SelectionHandlers
---@param change string "OLD:NEW", as ModeChanged gives it
local function mode_changed(handlers, change)
  local before, after = change:match("^(.-):(.*)$")
  local was, is = visual.mode(before), visual.mode(after)
  if is and not was then
    handlers.visual_enter()
  elseif was and not is then
    handlers.visual_leave(was)
  end
end

---@param debounce_ms integer
---@param handlers claude-code.SelectionHandlers
---@return claude-code.SelectionWatch
function M.new(debounce_ms, handlers)
  local self = setmetatable({}, Watch)
  self.touch, self.cancel_touch =
    require("claude-code.lib.timer").debounce(debounce_ms, handlers.idle)
  self.group = api.nvim_create_augroup("claude-code.selection", { clear = true })
  local function on(events, callback, pattern)
    api.nvim_create_autocmd(events, { group = self.group, pattern = pattern, callback = callback })
  end
  on("ModeChanged", function(args)
    mode_changed(handlers, args.match)
    self.touch()
  end, { VISUAL .. ":*", "*:" .. VISUAL })
  -- CmdlineLeave: what happened while a command line was open ('incsearch') did not count.
  on({ "BufEnter", "BufUnload", "BufFilePost", "CmdlineLeave" }, self.touch)
  on("WinEnter", function()
    handlers.win_enter()
    self.touch()
  end)
  on("WinLeave", function()
    handlers.win_leave()
  end)
  self.touch()
  return self
end

---Follows cursor movements, or stops following them.
---@param wanted boolean
function Watch:follow_cursor(wanted)
  if wanted == (self.cursor_group ~= nil) then
    return
  elseif not wanted then
    api.nvim_del_augroup_by_id(self.cursor_group)
    self.cursor_group = nil
    return
  end
  self.cursor_group = api.nvim_create_augroup("claude-code.selection.cursor", { clear = true })
  api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI", "TextChanged" }, {
    group = self.cursor_group,
    callback = self.touch,
  })
end

function Watch:close()
  self:follow_cursor(false)
  self.cancel_touch()
  api.nvim_del_augroup_by_id(self.group)
end

return M
