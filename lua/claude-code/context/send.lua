--- :Claude send: pastes into the prompt of a CLI in a terminal of this Neovim.
local api = vim.api
local notify = require("claude-code.messages.notify")

local M = {}

---@param submit boolean
---@param n? integer the session
---@param if_outside fun() called if Claude runs outside of this Neovim
local function paste(text, submit, n, if_outside)
  local prompt = require("claude-code.terminal.prompt")
  local start = require("claude-code.terminal.start")
  if text == "" then
    notify.warn("the text to send is empty")
  elseif start.is_waiting() and not prompt.is_there() then
    start.after(function()
      paste(text, submit, n, if_outside)
    end)
  elseif prompt.refuse_while_asking("your text", n) or prompt.paste(text, submit, n) then
    return
  elseif #require("claude-code.server").clients > 0 then
    if_outside()
  else
    notify.warn("Claude is not running in a terminal of this Neovim; :Claude starts it")
  end
end

--- What follows whole lines in the prompt begins a line of its own.
---@param submit boolean nothing follows then
local function whole_lines(lines, submit)
  local text = table.concat(lines, "\n")
  return (text == "" or submit) and text or text .. "\n"
end

---@param first integer 1-based
---@param last integer 1-based, included
local function mention(first, last)
  require("claude-code.context.mention").command({
    args = "",
    fargs = {},
    bang = false,
    range = 2,
    line1 = first,
    line2 = last,
  })
end

--- Lines of a file are text to the CLI, and no command that it carries out: `!` begins one of the shell, and a
--- `/name` one of its own. A blank before it ends the first meaning, not the second (measured with 2.1.330). A CLI
--- outside of this Neovim gets a mention of the lines.
---@param submit boolean
---@param n? integer the session
---@param first integer 1-based
---@param last integer 1-based, included
local function paste_lines(text, submit, n, first, last)
  local command = text:match("^%s*(/[%w:_-]+)%f[%s%z]")
  if command and require("claude-code.terminal.prompt").is_there() then
    local words = "Claude would carry out %s: select what is before it, too, or use :Claude mention"
    return notify.warn(words:format(command))
  end
  paste((text:gsub("^!", " !")), submit, n, function()
    mention(first, last)
  end)
end

--- Refuses a buffer whose file is private, and says so.
---@param buf integer
---@return boolean refused
function M.refuse_private(buf)
  local privacy = require("claude-code.editor.privacy")
  if not privacy.hides(buf) then
    return false
  end
  notify.warn(privacy.refusal(api.nvim_buf_get_name(buf)))
  return true
end

---@param text string
---@param submit boolean
---@param n? integer number of a session of this Neovim; the current one if left out
function M.text(text, submit, n)
  paste(text, submit, n, function()
    notify.warn(
      "Claude runs outside of this Neovim, where text cannot be pasted; :Claude mention sends lines"
    )
  end)
end

--- Lines of the current buffer; a CLI outside of this Neovim gets a mention of them.
---@param first integer 1-based
---@param last integer 1-based, included
---@param submit boolean
---@param n? integer number of a session of this Neovim; the current one if left out
function M.lines(first, last, submit, n)
  if M.refuse_private(0) then
    return
  end
  local lines = api.nvim_buf_get_lines(0, first - 1, last, false)
  paste_lines(whole_lines(lines, submit), submit, n, first, last)
end

--- What is selected in visual mode, which ends; a CLI outside of this Neovim gets a mention of its
--- lines. A count is the number of a session.
function M.selection()
  local count = vim.v.count
  local from, to, mode = vim.fn.getpos("v"), vim.fn.getpos("."), vim.fn.mode()
  local lines = vim.fn.getregion(from, to, { type = mode })
  api.nvim_feedkeys(vim.keycode("<Esc>"), "nx", false)
  if M.refuse_private(0) then
    return
  end
  local text = mode == "V" and whole_lines(lines, false) or table.concat(lines, "\n")
  local named = { args = count > 0 and tostring(count) or "" }
  require("claude-code.terminal.select").with_named(named, function(n)
    paste_lines(text, false, n, math.min(from[2], to[2]), math.max(from[2], to[2]))
  end)
end

return M
