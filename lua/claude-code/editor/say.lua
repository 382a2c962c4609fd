--- Messages to the person, never in the way: Neovim answers no RPC while a hit-enter prompt shows,
--- so with the built-in vim.notify a message is one line and replaces the one before.
local PREFIX = "claude-code.nvim: "

local M = {}

---Does the message land in Neovim's own message line (and not in a notification plugin)?
local function is_builtin()
  local source = debug.getinfo(vim.notify, "S").source
  -- Precompiled in 0.12, where no source is told.
  return source == "?"
    or source:find("^@?vim/_") ~= nil
    or source:find("/lua/vim/_", 1, true) ~= nil
end

---@param text string
---@return string fitting text
local function one_line(text)
  local room = math.max(vim.v.echospace, 2)
  text = text:gsub("%s*\n%s*", " ")
  if vim.fn.strdisplaywidth(text) <= room then
    return text
  end
  return vim.fn.strcharpart(text, 0, room - 1) .. "…"
end

---@param text string
---@param level integer vim.log.levels
local function show(text, level)
  if is_builtin() then
    text = one_line(text)
    pcall(vim.cmd.redraw)
  end
  vim.notify(text, level, { title = "claude-code.nvim" })
end

---@param level integer
---@param name claude-code.LogLevel
---@return fun(text: string)
local function speaker(level, name)
  return function(text)
    require("claude-code.log")[name](text)
    vim.schedule(function()
      pcall(show, PREFIX .. text, level)
    end)
  end
end

M.info = speaker(vim.log.levels.INFO, "info")
M.warn = speaker(vim.log.levels.WARN, "warn")
M.error = speaker(vim.log.levels.ERROR, "error")

return M
