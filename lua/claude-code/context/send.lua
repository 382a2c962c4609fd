--- Sends text, lines of a buffer, and diagnostics of lines or of edited files to Claude's prompt.
local api = vim.api
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")

local MAX_PROBLEMS = 20

local M = {}

function M.report_no_receiver()
  if #require("claude-code.server").clients > 0 then
    notify.warn("text cannot be pasted outside of Neovim; use :Claude mention")
  else
    notify.warn("no Claude runs in this Neovim; :Claude starts it")
  end
end

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
  elseif prompt.send(text, { submit = submit, n = n, with_selection = true }) then
    return
  elseif #require("claude-code.server").clients > 0 then
    if_outside()
  else
    M.report_no_receiver()
  end
end

--- Text that the user adds begins on its own line.
---@param submit boolean the user cannot add text
local function whole_lines(lines, submit)
  local text = table.concat(lines, "\n")
  return (text == "" or submit) and text or text .. "\n"
end

--- The CLI must not run lines of a file: `!` begins a shell command, and `/name` one of its own. A blank before it
--- disables only the first (2.1.330). A CLI outside of this Neovim gets a mention of the lines.
local function paste_lines(text, submit, n, first, last)
  local command = text:match("^%s*(/[%w:_-]+)%f[%s%z]")
  if command and require("claude-code.terminal.prompt").is_there() then
    local words = "Claude would run %s: include the text before it, or use :Claude mention"
    return notify.warn(words:format(command))
  end
  paste((text:gsub("^!", " !")), submit, n, function()
    local args = { args = "", fargs = {}, range = 2, line1 = first, line2 = last }
    require("claude-code.context.mention").command(args)
  end)
end

--- Refuses a private buffer with a message.
---@return boolean refused
function M.refuse_private(buf)
  local privacy = require("claude-code.editor.privacy")
  if not privacy.hides(buf) then
    return false
  end
  notify.warn(privacy.refusal(api.nvim_buf_get_name(buf)))
  return true
end

---@param n? integer number of a session of this Neovim; the current one if left out
function M.text(text, submit, n)
  paste(text, submit, n, M.report_no_receiver)
end

--- Sends lines of the current buffer; a CLI outside of this Neovim gets a mention of them.
---@param first integer 1-based
---@param last integer 1-based, included
---@param n? integer number of a session of this Neovim; the current one if left out
function M.lines(first, last, submit, n)
  if M.refuse_private(0) then
    return
  end
  local lines = api.nvim_buf_get_lines(0, first - 1, last, false)
  paste_lines(whole_lines(lines, submit), submit, n, first, last)
end

--- Sends the visual selection, and ends visual mode. A count is the number of a session.
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
  require("claude-code.terminal").with_named(named, function(n)
    paste_lines(text, false, n, math.min(from[2], to[2]), math.max(from[2], to[2]))
  end)
end

local function list_entry(place, item)
  local text = item.message:gsub("%s*\n%s*", " ")
  return ("- %s [%s]: %s"):format(place, vim.diagnostic.severity[item.severity], text)
end

--- Spec 04, section 3.2.
local function message(first, last, diagnostics)
  local code = table.concat(api.nvim_buf_get_lines(0, first - 1, last, false), "\n")
  return table.concat({
    "I have a code snippet with LSP diagnostics that need to be fixed:",
    "",
    "File: " .. path.title(api.nvim_buf_get_name(0), ":."),
    ("Lines: %d-%d"):format(first, last),
    "",
    require("claude-code.lib.text").fenced(code, vim.bo.filetype),
    "",
    "LSP Diagnostics:",
    table.concat(diagnostics, "\n"),
    "",
    "Please help me fix these issues.",
  }, "\n")
end

--- Puts a message into Claude's prompt. A CLI outside of Neovim gets mentions of the targets.
local function deliver(text, targets, n)
  local submit = require("claude-code.config").get().send.submit
  local prompt = require("claude-code.terminal.prompt")
  if prompt.send(text, { submit = submit, n = n, name = "the problems" }) then
    return
  elseif #require("claude-code.server").clients == 0 then
    return M.report_no_receiver()
  end
  local accepted, problem = require("claude-code.context.mention").add(targets)
  if not accepted then
    notify.error(problem --[[@as string]])
  end
end

--- Sends the problems in lines of the current buffer.
---@param first integer 1-based
---@param last integer 1-based, included
function M.diagnostics(first, last)
  local name = path.of_buffer(0)
  if not name then
    notify.warn("this buffer is not a file; go to one, or use :Claude send")
    return
  elseif M.refuse_private(0) then
    return
  end
  local diagnostics = {}
  for _, item in ipairs(vim.diagnostic.get(0)) do
    local line = item.lnum + 1
    if line >= first and line <= last then
      table.insert(diagnostics, list_entry(("Line %d, Col %d"):format(line, item.col + 1), item))
    end
  end
  if #diagnostics == 0 then
    local where = first == last and "in line " .. first or ("in lines %d to %d"):format(first, last)
    notify.warn(("nothing to send: no diagnostics %s"):format(where))
  else
    local target = { path = name, line_start = first - 1, line_end = last - 1 }
    deliver(message(first, last, diagnostics), { target })
  end
end

local function message_after_turn(problems)
  local lines = { "After your last turn, language servers found these problems in your edits:", "" }
  for i = 1, math.min(MAX_PROBLEMS, #problems) do
    local name, item = path.title(problems[i].path, ":."), problems[i].item
    lines[#lines + 1] = list_entry(("%s:%d:%d"):format(name, item.lnum + 1, item.col + 1), item)
  end
  if #problems > MAX_PROBLEMS then
    lines[#lines + 1] = ("- … and %d more"):format(#problems - MAX_PROBLEMS)
  end
  return table.concat(vim.list_extend(lines, { "", "Please help me fix these issues." }), "\n")
end

--- Sends problems in files that Claude edited in its last turn, the worst first, to the session that edited them.
function M.problems()
  local problems, n = require("claude-code.editor.turn_check").late_problems()
  if #problems == 0 then
    return notify.warn("nothing to send: Claude's last turn left no problem")
  end
  local seen, targets = {}, {}
  for _, problem in ipairs(problems) do
    if not seen[problem.path] then
      seen[problem.path] = true
      targets[#targets + 1] = { path = problem.path }
    end
  end
  deliver(message_after_turn(problems), targets, n)
end

return M
