--- Notices what happens to the windows and the file of a diff on screen.
local api = vim.api

---How often all is looked at for what has no event (the executable died, somebody closed a window
---with autocommands off), in ms.
local WATCHDOG_MS = 500

local M = {}

---@class claude-code.WatchCallbacks
---@field windows fun() windows or buffers may have changed
---@field file fun() the file may have changed, on disk or in its buffer
---@field cursor fun() the cursor moved, or windows changed their size

---@param buffers integer[] of the diff
---@param on claude-code.WatchCallbacks
---@return integer group for further autocommands
---@return fun() stop
function M.start(buffers, on)
  local group = api.nvim_create_augroup("claude-code.diff", { clear = true })
  local watchdog = assert(vim.uv.new_timer())
  local function unless_stopped(callback)
    return vim.schedule_wrap(function()
      if not watchdog:is_closing() then
        callback()
      end
    end)
  end
  local check_windows = unless_stopped(on.windows)
  local check_all = unless_stopped(function()
    on.windows()
    on.file()
  end)
  local function autocmd(events, callback, buf)
    api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = callback })
  end
  for _, buf in ipairs(buffers) do
    local gone = { "BufWinLeave", "BufUnload", "BufDelete", "BufWipeout", "BufHidden" }
    autocmd(gone, check_windows, buf)
  end
  autocmd({ "WinClosed", "TabClosed", "BufWinEnter" }, check_windows)
  autocmd({ "BufWritePost", "BufModifiedSet", "FileChangedShellPost" }, check_all)
  autocmd({ "CursorMoved", "CursorMovedI", "WinResized" }, on.cursor)
  watchdog:start(WATCHDOG_MS, WATCHDOG_MS, check_all)
  return group, function()
    watchdog:close()
    pcall(api.nvim_del_augroup_by_id, group)
  end
end

return M
