--- :Claude answer: lets the user answer a session's question by vim.ui.select().
local float = require("claude-code.messages.float")
local label = require("claude-code.sessions.label")
local notify = require("claude-code.messages.notify")
local requests = require("claude-code.sessions.requests")
local sessions = require("claude-code.sessions")
local task = require("claude-code.lib.task")
local winbar = require("claude-code.editor.windows.winbar")

local M = {}

--- In bytes. Neovim takes 60 to 300 ms for each redraw of a wrapped line of 200,000 bytes.
local MAX_LINE = 1000

---@class claude-code.AnswerChoice
---@field text string
---@field answer? claude-code.PermissionAnswer
---@field needs_reason? boolean denies the request
---@field row? claude-code.SessionRow shows this session's terminal
---@field option? integer of a question
---@field is_reply? boolean to a question, with the user's words or the chosen options
---@field is_last? boolean without words

local function row_of(request)
  return sessions.get({ n = request.session, pid = request.pid })
end

---@return string? text nil if it is empty
local function input(prompt)
  local text = task.await(function(done)
    vim.ui.input({ prompt = prompt }, done)
  end)
  return text and vim.trim(text) ~= "" and text or nil
end

local function other_choices(request)
  local row = row_of(request)
  local deny = request.questions and "Decline" or "Deny"
  local choices = {
    { text = deny, answer = { allow = false } },
    { text = deny .. " with a reason…", needs_reason = true },
  }
  if row and (row.n or row.buf) then
    table.insert(choices, { text = "Show it in its terminal", row = row })
  end
  return choices
end

---@return claude-code.PermissionAnswer? answer nil if the user has not decided
local function answer_of(chosen)
  if chosen and chosen.row then
    require("claude-code.terminal").go_to(chosen.row)
  elseif chosen and chosen.needs_reason then
    local reason = input("Reason for Claude: ")
    return reason and { allow = false, reason = reason }
  end
  return chosen and chosen.answer
end

local function heading(request)
  return request.questions and "Question" or request.tool
end

--- Splits a long line where Neovim would wrap it.
local function in_rows(lines)
  local rows, most = {}, math.max(10, vim.o.columns - 3)
  for _, line in ipairs(lines) do
    local first = 1
    while #line - first >= MAX_LINE do
      local next = first + most
      -- Do not split a character.
      next = next + vim.str_utf_start(line, next)
      rows[#rows + 1] = line:sub(first, next - 1)
      first = next
    end
    rows[#rows + 1] = line:sub(first)
  end
  return rows
end

--- Shows the lines above the choices.
---@param own claude-code.AnswerChoice[] besides those of every request
---@return claude-code.AnswerChoice? chosen nil if the user has not decided
local function choose(request, lines, own)
  lines = in_rows(lines)
  local choices, whole =
    vim.list_extend(own, other_choices(request)), { text = "Show the whole request" }
  -- For pickers that cover the preview.
  table.insert(choices, whole)
  local name = label.of({ n = request.session, pid = request.pid })
  local title = request.questions and lines[1] or request.title
  local prompt = ("%s asks: %s"):format(name, title)
  while true do
    local look = { syntax = request.syntax, choices = #choices }
    local close_preview = float.preview(heading(request), lines, look)
    requests.on_end(request.id, close_preview)
    local ok, chosen = pcall(task.await, function(done)
      vim.ui.select(choices, {
        prompt = winbar.shortened(prompt, math.max(20, vim.o.columns - 2), "head"),
        kind = "claude-code.answer",
        format_item = function(one)
          return one.text
        end,
      }, done)
    end)
    close_preview()
    -- CTRL-C in Neovim's own list throws an error.
    if not ok and not tostring(chosen):find("Keyboard interrupt", 1, true) then
      error(chosen, 0)
    elseif not ok or chosen ~= whole then
      return ok and chosen or nil
    end
    local buf = float.open(heading(request), lines)
    vim.bo[buf].syntax = request.syntax or ""
    task.await(function(done)
      local callback = vim.schedule_wrap(done)
      vim.api.nvim_create_autocmd("BufWipeout", { buffer = buf, once = true, callback = callback })
    end)
  end
end

local function ask_permission(request)
  local choices = { { text = "Allow", answer = { allow = true } } }
  for number, text in ipairs(request.suggestions) do
    choices[number + 1] = { text = text, answer = { allow = true, suggestion = number } }
  end
  return answer_of(choose(request, request.lines, choices))
end

local function lines_of(question, index, count)
  local lines = vim.list_slice(question.text)
  if count > 1 then
    lines[1] = ("%d of %d: %s"):format(index, count, lines[1] or "")
  end
  for number, option in ipairs(question.options) do
    local description = option.description ~= "" and ": " .. option.description or ""
    lines[#lines + 1] = ("  %d. %s%s"):format(number, option.label, description)
  end
  return lines
end

---@param picked table<integer, true> options so far, if the question allows several
local function choices_of(question, picked)
  local choices = {}
  for number, option in ipairs(question.options) do
    local mark = question.multiple and (picked[number] and "[x] " or "[ ] ") or ""
    choices[number] = { text = mark .. option.label, option = number }
  end
  table.insert(choices, { text = "Type an answer…", is_reply = true })
  if next(picked) then
    table.insert(choices, { text = "Done", is_reply = true, is_last = true })
  end
  return choices
end

---@return claude-code.PermissionReply?, claude-code.AnswerChoice? other answers the whole request
local function ask_question(request, question, lines)
  local picked = {}
  while true do
    local chosen = choose(request, lines, choices_of(question, picked))
    local option = chosen and chosen.option
    if option and question.multiple then
      picked[option] = not picked[option] or nil
    elseif option then
      return { options = { option } }
    elseif not chosen or not chosen.is_reply then
      return nil, chosen
    else
      local text = not chosen.is_last and input("Your answer: ") or nil
      local options = vim.tbl_keys(picked)
      table.sort(options)
      return (text or chosen.is_last) and { options = options, text = text } or nil
    end
  end
end

--- Asks Claude's questions one after the other, and answers them only if the user decides all.
local function ask_questions(request)
  local replies = {} ---@type claude-code.PermissionReply[]
  for index, question in ipairs(request.questions) do
    local lines = lines_of(question, index, #request.questions)
    local reply, other = ask_question(request, question, lines)
    if not reply then
      return answer_of(other)
    end
    replies[index] = reply
  end
  return { allow = true, replies = replies }
end

---@return claude-code.PermissionRequest? of session `n`; by default of the current one, or else the oldest
local function find(n)
  local all = requests.list()
  local wanted = n or sessions.current()
  local found = vim.iter(all):find(function(request)
    return wanted ~= nil and request.session == wanted
  end)
  return found or not n and all[1] or nil
end

--- Without a request to answer here: shows a session that asks only in its terminal, preferably the current one.
local function explain(n)
  local row = sessions.get(n or sessions.current() or 0)
  if not n and not (row and row.state == "blocked") then
    row = vim.iter(sessions.list()):find(function(other)
      return other.state == "blocked" and other.attached
    end)
  end
  if not (row and row.state == "blocked") then
    local who = n and ("Claude %d does not ask"):format(n) or "no Claude session asks"
    return notify.info(who .. " anything")
  end
  local is_on = require("claude-code.config").get().permissions.answer
  local why = is_on and "it asks in its terminal only"
    or "the option permissions.answer is off, so it asks in its terminal only"
  require("claude-code.terminal").go_to(row)
  notify.info(("%s needs input; %s"):format(label.of(row), why))
end

---@param n? integer number of a session; by default the current one, or else the one that has asked longest
function M.run(n)
  local request = find(n)
  if not request then
    return explain(n)
  end
  local row = request.is_edit and row_of(request)
  if row and require("claude-code.sessions.attention").has_diff(row) then
    -- The user may have changed the edit in the diff.
    local diff = require("claude-code.editor.diff")
    if not diff.current() then
      diff.switch(1)
    end
    notify.info(("%s has a diff: accept or reject it there"):format(request.title))
  elseif request.plan and require("claude-code.config").get().permissions.plan then
    require("claude-code.permissions.plan").show(request)
  else
    task.run(function()
      local ask = request.questions and ask_questions or ask_permission
      local answer = ask(request)
      if answer then
        local ok, problem = requests.answer(request.id, answer)
        if not ok then
          notify.warn(problem --[[@as string]])
        end
      end
    end)
  end
end

return M
