--- Messages to the user, in the plugin's name. Each is also written to the log. Shown a moment
--- later: by then a notification plugin may be there, and Neovim does not take an error's text for
--- a failure of the script that runs just now.
local M = {}

local NAME = "claude-code.nvim"
local levels = vim.log.levels
local HIGHLIGHTS =
  { [levels.ERROR] = "ErrorMsg", [levels.WARN] = "WarningMsg", [levels.INFO] = "None" }

--- Is vim.notify Neovim's own, and not a notification plugin's, which may be a callable table?
---@return boolean
local function is_builtin()
  if type(vim.notify) ~= "function" then
    return false
  end
  local source = debug.getinfo(vim.notify, "S").source
  -- "?" in 0.12, where it is precompiled.
  return source == "?"
    or source:find("^@?vim/_") ~= nil
    or source:find("/lua/vim/_", 1, true) ~= nil
end

--- Does Neovim draw messages itself? Otherwise whoever does (a UI's own messages, or the stderr of a
--- Neovim without a UI) has room for them, and asks for nothing.
---@return boolean
local function is_drawn_here()
  local uis = vim.api.nvim_list_uis()
  return #uis > 0 and not vim.iter(uis):any(function(ui)
    return ui.ext_messages
  end)
end

---@param level integer vim.log.levels
---@param name claude-code.LogLevel
---@return fun(text: string)
local function notifier(level, name)
  local log = require("claude-code.messages.log")
  local function show(text)
    if not (is_builtin() and is_drawn_here()) then
      return vim.notify(NAME .. ": " .. text, level, { title = NAME })
    end
    require("claude-code.messages.line").show(
      NAME,
      text,
      { highlight = HIGHLIGHTS[level], history = true, is_logged = log.writes(name) }
    )
  end
  return function(text)
    log[name](text)
    vim.schedule(function()
      show(text)
    end)
  end
end

M.error = notifier(levels.ERROR, "error")
M.warn = notifier(levels.WARN, "warn")
M.info = notifier(levels.INFO, "info")

--- Shows how far something is, in a line that the next one replaces and neither `:messages` nor the
--- log keeps.
---@param text string
function M.progress(text)
  if #vim.api.nvim_list_uis() == 0 then
    io.stderr:write(("%s: %s\n"):format(NAME, text))
    return
  end
  require("claude-code.messages.line").show(NAME, text, {})
end

return M
