--- Diagnostics as one message to Claude: those of lines (:Claude diagnostics), and those that were found in
--- edited files after Claude's turn (:Claude diagnostics!).
local api = vim.api
local notify = require("claude-code.messages.notify")

local M = {}

---Of problems after a turn. More would fill the prompt.
local MOST = 20

---@return string path relative to the current folder where the file lies in it
local function shown_path(buf)
  local name = api.nvim_buf_get_name(buf)
  return name == "" and "[No Name]" or vim.fn.fnamemodify(name, ":.")
end

---@param place string
---@param item vim.Diagnostic
local function list_entry(place, item)
  local text = item.message:gsub("%s*\n%s*", " ")
  return ("- %s [%s]: %s"):format(place, vim.diagnostic.severity[item.severity], text)
end

---@param first integer 1-based
---@param last integer 1-based
---@return string[] possibly none
local function diagnostic_lines(buf, first, last)
  local lines = {}
  for _, item in ipairs(vim.diagnostic.get(buf)) do
    local line = item.lnum + 1
    if line >= first and line <= last then
      table.insert(lines, list_entry(("Line %d, Col %d"):format(line, item.col + 1), item))
    end
  end
  return lines
end

---@return string fence longer than any in the text
local function fence_for(text)
  local longest = 2
  for run in text:gmatch("`+") do
    longest = math.max(longest, #run)
  end
  return ("`"):rep(longest + 1)
end

--- The message of spec 04, section 3.2.
---@param first integer 1-based
---@param last integer 1-based, included
---@param diagnostics string[]
local function message(buf, first, last, diagnostics)
  local code = table.concat(api.nvim_buf_get_lines(buf, first - 1, last, false), "\n")
  local fence = fence_for(code)
  return table.concat({
    "I have a code snippet with LSP diagnostics that need to be fixed:",
    "",
    "File: " .. shown_path(buf),
    ("Lines: %d-%d"):format(first, last),
    "",
    fence .. vim.bo[buf].filetype,
    code,
    fence,
    "",
    "LSP Diagnostics:",
    table.concat(diagnostics, "\n"),
    "",
    "Please help me fix these issues.",
  }, "\n")
end

---@return string place with the next step for the user
local function store(text)
  local is_set = vim.fn.has("clipboard") == 1 and pcall(vim.fn.setreg, "+", text)
  if is_set and vim.fn.getreg("+") == text then
    return "the clipboard, for you to paste into Claude's prompt"
  end
  vim.fn.setreg('"', text)
  return "Neovim's unnamed register"
end

--- A CLI outside of Neovim gets a mention of the lines; only the user can hand it the message.
---@param targets claude-code.MentionTarget[]
local function send_outside(text, targets)
  local done = "Claude is not connected"
  if #require("claude-code.server").clients > 0 then
    local accepted, problem = require("claude-code.context.mention").add(targets)
    done = accepted and "Claude runs outside of this Neovim and received a mention of the lines"
      or problem --[[@as string]]
  end
  notify.info(("%s; the whole message is in %s"):format(done, store(text)))
end

--- Puts a message into Claude's prompt.
---@param targets claude-code.MentionTarget[] what it is about
---@param n? integer number of a session of this Neovim; the current one if left out
local function deliver(text, targets, n)
  local submit = require("claude-code.config").get().send.submit
  local prompt = require("claude-code.terminal.prompt")
  if not prompt.refuse_while_asking("the problems", n) and not prompt.paste(text, submit, n) then
    send_outside(text, targets)
  end
end

--- Lines of the current buffer.
---@param first integer 1-based
---@param last integer 1-based, included
function M.lines(first, last)
  local name = require("claude-code.editor.documents.path").of_buffer(0)
  if not name then
    notify.warn("this buffer is not a file; go to one, or use :Claude send")
    return
  elseif require("claude-code.context.send").refuse_private(0) then
    return
  end
  local diagnostics = diagnostic_lines(0, first, last)
  if #diagnostics == 0 then
    local where = first == last and "in line " .. first or ("in lines %d to %d"):format(first, last)
    notify.warn(("nothing to send: there are no diagnostics %s"):format(where))
  else
    local target = { path = name, line_start = first - 1, line_end = last - 1 }
    deliver(message(0, first, last, diagnostics), { target })
  end
end

---@param problems claude-code.FileProblem[]
local function message_after_turn(problems)
  local lines = { "After your last turn, language servers found these problems in your edits:", "" }
  for i = 1, math.min(MOST, #problems) do
    local name, item = vim.fn.fnamemodify(problems[i].path, ":."), problems[i].item
    lines[#lines + 1] = list_entry(("%s:%d:%d"):format(name, item.lnum + 1, item.col + 1), item)
  end
  if #problems > MOST then
    lines[#lines + 1] = ("- … and %d more"):format(#problems - MOST)
  end
  return table.concat(vim.list_extend(lines, { "", "Please help me fix these issues." }), "\n")
end

---@param problems claude-code.FileProblem[]
---@return claude-code.MentionTarget[] each file once
local function targets_of(problems)
  local seen, list = {}, {}
  for _, problem in ipairs(problems) do
    if not seen[problem.path] then
      seen[problem.path] = true
      list[#list + 1] = { path = problem.path }
    end
  end
  return list
end

--- The worst problems, those of the files with the worst first, to the session that edited these.
function M.problems()
  local problems, n = require("claude-code.editor.turn_check.unchecked").problems()
  if #problems == 0 then
    notify.warn("nothing to send: no problems were found after Claude's last turn")
  else
    deliver(message_after_turn(problems), targets_of(problems), n)
  end
end

return M
