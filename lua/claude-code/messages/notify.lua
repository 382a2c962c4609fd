--- Messages to the user, in the plugin's name. Each is also written to the log. Shown a moment
--- later: by then a notification plugin may be there, and Neovim does not take an error's text for
--- a failure of the script that runs just now.
local M = {}

local NAME = "claude-code.nvim"
local levels = vim.log.levels
local HIGHLIGHTS =
  { [levels.ERROR] = "ErrorMsg", [levels.WARN] = "WarningMsg", [levels.INFO] = "None" }

--- Is vim.notify Neovim's own, and not a notification plugin's, which may be a callable table, or what
--- vim.schedule_wrap() has made (mini.notify)?
local function is_builtin()
  local info = type(vim.notify) == "function" and debug.getinfo(vim.notify, "Su")
  -- "?" in 0.12, where it is precompiled.
  return info ~= false
    and not info.isvararg
    and (
      info.source == "?"
      or info.source:find("^@?vim/_") ~= nil
      or info.source:find("/lua/vim/_", 1, true) ~= nil
    )
end

--- Does Neovim draw messages itself? Otherwise whoever does (a UI's own messages, or the stderr of a
--- Neovim without a UI) has room for them, and asks for nothing.
local function is_drawn_here()
  local uis = vim.api.nvim_list_uis()
  return #uis > 0 and not vim.iter(uis):any(function(ui)
    return ui.ext_messages
  end)
end

--- What a notification plugin has returned for the last message of each topic.
---@type table<string, table?>
local records = {}

--- A message of the same topic is replaced if the plugin can do that: by `id` (snacks.nvim), or by the
--- record of the one before (nvim-notify, noice.nvim) unless that is gone.
---@param level integer vim.log.levels
---@param topic? string
local function show_by_plugin(text, level, topic)
  if not topic then
    vim.notify(text, level, { title = NAME })
    return
  end
  local record = vim.notify(text, level, {
    title = NAME,
    id = "claude-code." .. topic,
    replace = records[topic],
    on_close = function()
      records[topic] = nil
    end,
  })
  records[topic] = type(record) == "table" and record or nil
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
      return show_by_plugin(text, level, topic)
    elseif not is_drawn_here() then
      return vim.notify(NAME .. ": " .. text, level, { title = NAME })
    end
    require("claude-code.messages.line").show(text, HIGHLIGHTS[level], log.writes(name))
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
  require("claude-code.messages.line").show(text)
end

return M
