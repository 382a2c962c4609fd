--- Messages to the person, never in the way: Neovim answers no RPC while a hit-enter prompt shows,
--- so with the built-in vim.notify a message is one line and replaces the one before.

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
---@return string
local function fit(text)
  if not is_builtin() then
    return text
  end
  pcall(vim.cmd.redraw)
  return one_line(text)
end

local teller, levels = require("claude-code.notify").teller, vim.log.levels

return {
  info = teller(levels.INFO, "info", fit),
  warn = teller(levels.WARN, "warn", fit),
  error = teller(levels.ERROR, "error", fit),
}
