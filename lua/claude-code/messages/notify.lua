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
  if type(vim.notify) ~= "function" or require("claude-code.messages.popup").is_mini() then
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

--- About to be shown. Two parts of the plugin may report the same just now: it is said once.
---@type table<string, true>
local pending = {}

---@param level integer vim.log.levels
---@param name claude-code.LogLevel
---@return fun(text: string, topic?: string) topic: a notification plugin lets the message take the
---place of the last one of its topic
local function notifier(level, name)
  local log = require("claude-code.messages.log")
  local function show(text, topic)
    if not is_builtin() then
      return require("claude-code.messages.popup").show(text, level, topic)
    elseif not is_drawn_here() then
      return vim.notify(NAME .. ": " .. text, level, { title = NAME })
    end
    require("claude-code.messages.line").show(
      NAME,
      text,
      { highlight = HIGHLIGHTS[level], history = true, is_logged = log.writes(name) }
    )
  end
  return function(text, topic)
    if pending[text] then
      return
    end
    pending[text] = true
    log[name](text)
    vim.schedule(function()
      pending[text] = nil
      show(text, topic)
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
