--- Messages to the person, in the plugin's name. Each is also written to the log. Shown a moment
--- later: by then a notification plugin may be there, and Neovim does not take an error's text for
--- a failure of the script that runs just now.
local M = {}

local NAME = "claude-code.nvim"
local levels = vim.log.levels
local HIGHLIGHTS =
  { [levels.ERROR] = "ErrorMsg", [levels.WARN] = "WarningMsg", [levels.INFO] = "None" }

---Is vim.notify Neovim's own, and not a notification plugin's?
---@return boolean
local function is_builtin()
  local source = debug.getinfo(vim.notify, "S").source
  -- Precompiled in 0.12, where no source is told.
  return source == "?"
    or source:find("^@?vim/_") ~= nil
    or source:find("/lua/vim/_", 1, true) ~= nil
end

---Does Neovim draw messages itself? Otherwise whoever does (a UI's own messages, or the stderr of a
---Neovim without a UI) has room for them, and asks for nothing.
---@return boolean
local function is_drawn_here()
  local uis = vim.api.nvim_list_uis()
  return #uis > 0 and not vim.iter(uis):any(function(ui)
    return ui.ext_messages
  end)
end

---@param text string
---@param level integer
local function show(text, level)
  if is_builtin() and is_drawn_here() then
    require("claude-code.messages.line").show(NAME, text, HIGHLIGHTS[level])
  else
    vim.notify(NAME .. ": " .. text, level, { title = NAME })
  end
end

---@param level integer vim.log.levels
---@param name claude-code.LogLevel
---@return fun(text: string)
local function teller(level, name)
  return function(text)
    require("claude-code.messages.log")[name](text)
    vim.schedule(function()
      show(text, level)
    end)
  end
end

M.error = teller(levels.ERROR, "error")
M.warn = teller(levels.WARN, "warn")
M.info = teller(levels.INFO, "info")

--- Tells how far something is, in a line that the next one replaces and nothing keeps.
---@param text string
function M.progress(text)
  if #vim.api.nvim_list_uis() == 0 then
    io.stderr:write(("%s: %s\n"):format(NAME, text))
    return
  end
  local line = require("claude-code.messages.line")
  line.pass(line.fit(NAME, text))
end

return M
