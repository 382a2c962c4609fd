--- git's message of a commit, for which a key asks Claude.
local api = vim.api
local notify = require("claude-code.messages.notify")

local M = {}

---@type table<integer, { win: integer, is_asked: boolean }> by their buffers
local messages = {}

local function keys()
  local option = require("claude-code.config").get().review.keys.message
  return require("claude-code.editor.changes.keys").of(option)
end

local function show_bar(buf)
  local message, key = messages[buf], keys()[1]
  if api.nvim_win_is_valid(message.win) and api.nvim_win_get_buf(message.win) == buf then
    local asks = message.is_asked and "Claude writes it …" or key and key .. " asks Claude" or ""
    local hints = ":wq commits  :q! does not  " .. asks
    require("claude-code.editor.prompt").show_bar(message.win, "git's message", hints)
  end
end

--- As an undo step of its own. What is there already stays below, whoever wrote it.
local function insert(buf, text)
  local is_empty = api.nvim_buf_get_lines(buf, 0, 1, false)[1] == ""
  local lines = vim.split(text .. "\n", "\n")
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
  api.nvim_buf_set_lines(buf, 0, is_empty and 1 or 0, true, lines)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

---Asks Claude for the message of the current buffer, from what will be committed.
function M.ask()
  local buf = api.nvim_get_current_buf()
  local message = messages[buf]
  if not message then
    return notify.warn("this is no message of a commit: :Claude commit opens it")
  elseif message.is_asked then
    return notify.info("Claude writes the message already")
  end
  local command, problem = require("claude-code.claude.cli").command()
  if not command then
    return notify.error(problem --[[@as string]])
  end
  local env = require("claude-code.config").get().terminal.env
  local params = { command = command, env = next(env) and env or vim.empty_dict() }
  message.is_asked = true
  show_bar(buf)
  require("claude-code.server.requests").request("review/message", params, function(value, failure)
    if messages[buf] ~= message then
      return -- its window was closed
    end
    message.is_asked = false
    show_bar(buf)
    if value then
      return insert(buf, value.text)
    end
    notify.error(failure --[[@as string]])
  end)
end

---Gives git's message its bar and its key.
---@param buf integer it is in the current window
function M.attach(buf)
  messages[buf] = { win = api.nvim_get_current_win(), is_asked = false }
  for _, key in ipairs(keys()) do
    vim.keymap.set("n", key, M.ask, { buffer = buf, desc = "Ask Claude for the message" })
  end
  show_bar(buf)
  api.nvim_create_autocmd("BufUnload", {
    buffer = buf,
    callback = function()
      messages[buf] = nil
    end,
  })
end

return M
