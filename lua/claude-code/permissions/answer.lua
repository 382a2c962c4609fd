--- :Claude answer: shows what a session asks, and lets the user answer, by vim.ui.select.
local float = require("claude-code.messages.float")
local label = require("claude-code.sessions.label")
local notify = require("claude-code.messages.notify")
local requests = require("claude-code.sessions.requests")
local sessions = require("claude-code.sessions")
local winbar = require("claude-code.editor.windows.winbar")

local M = {}

--- In bytes. Neovim goes through all of a line that it wraps each time: 60 to 300 ms for 200,000.
local MAX_LINE = 1000

---@class claude-code.AnswerChoice
---@field text string
---@field run fun()

local function row_of(request)
  return sessions.get({ n = request.session, pid = request.pid })
end

local function send(request, answer)
  local ok, problem = requests.answer(request.id, answer)
  if not ok then
    notify.warn(problem --[[@as string]])
  end
end

---@return claude-code.AnswerChoice
local function choice(text, run)
  return { text = text, run = run }
end

---@return claude-code.AnswerChoice
local function choice_of(request, text, answer)
  return choice(text, function()
    send(request, answer)
  end)
end

--- Asks for a text, unless the user leaves it empty.
local function input(prompt, done)
  vim.ui.input({ prompt = prompt }, function(text)
    if text and vim.trim(text) ~= "" then
      done(text)
    end
  end)
end

--- What can be done with any request.
local function other_choices(request)
  local row = row_of(request)
  local deny = request.questions and "Decline" or "Deny"
  local choices = {
    choice_of(request, deny, { allow = false }),
    choice(deny .. " with a reason…", function()
      input("Reason for Claude: ", function(reason)
        send(request, { allow = false, reason = reason })
      end)
    end),
  }
  if row and (row.n or row.buf) then
    choices[3] = choice("Show it in its terminal", function()
      require("claude-code.terminal.go_to").session(row)
    end)
  end
  return choices
end

local function permission_choices(request)
  local choices = { choice_of(request, "Allow", { allow = true }) }
  for number, text in ipairs(request.suggestions) do
    table.insert(choices, choice_of(request, text, { allow = true, suggestion = number }))
  end
  return choices
end

local function heading(request)
  return request.questions and "Question" or request.tool
end

--- In a window with a cursor; closing it goes back to the choice.
local function show_whole(request, lines, back)
  local buf = float.open(heading(request), lines)
  vim.bo[buf].syntax = request.syntax or ""
  local callback = vim.schedule_wrap(back)
  vim.api.nvim_create_autocmd("BufWipeout", { buffer = buf, once = true, callback = callback })
end

--- In one line: the whole is above. Of several questions it is the one that is shown.
local function prompt_of(request, lines)
  local title = request.questions and lines[1] or request.title
  local name = label.of({ n = request.session, pid = request.pid })
  local prompt = ("%s asks: %s"):format(name, title)
  return winbar.shortened(prompt, math.max(20, vim.o.columns - 2), "head")
end

--- A long line as several, which look as it does where it is wrapped.
local function in_rows(lines)
  local rows, most = {}, math.max(10, vim.o.columns - 3)
  for _, line in ipairs(lines) do
    local first = 1
    while #line - first >= MAX_LINE do
      local next = first + most
      -- Whole characters.
      next = next + vim.str_utf_start(line, next)
      rows[#rows + 1] = line:sub(first, next - 1)
      first = next
    end
    rows[#rows + 1] = line:sub(first)
  end
  return rows
end

--- Shows the lines above the choices.
local function choose(request, lines, own)
  lines = in_rows(lines)
  local choices = vim.list_extend(vim.list_slice(own), other_choices(request))
  -- A picker may cover what is above it.
  choices[#choices + 1] = choice("Show the whole request", function()
    show_whole(request, lines, function()
      choose(request, lines, own)
    end)
  end)
  local look = { syntax = request.syntax, choices = #choices }
  local close_preview = float.preview(heading(request), lines, look)
  requests.on_end(request.id, close_preview)
  local ok, message = pcall(vim.ui.select, choices, {
    prompt = prompt_of(request, lines),
    kind = "claude-code.answer",
    format_item = function(one)
      return one.text
    end,
  }, function(chosen)
    close_preview()
    if chosen then
      chosen.run()
    end
  end)
  if not ok then
    close_preview()
    -- CTRL-C in Neovim's own list.
    if not tostring(message):find("Keyboard interrupt", 1, true) then
      error(message, 0)
    end
  end
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

---@param chosen table<integer, true>
local function reply_of(chosen, text)
  local options = vim.tbl_keys(chosen)
  table.sort(options)
  return { options = options, text = text }
end

---@param chosen table<integer, true> of a question with several options
local function ask_one(request, question, lines, chosen, done)
  local choices = {}
  for number, option in ipairs(question.options) do
    local mark = question.multiple and (chosen[number] and "[x] " or "[ ] ") or ""
    choices[number] = choice(mark .. option.label, function()
      if not question.multiple then
        return done({ options = { number } })
      end
      chosen[number] = not chosen[number] or nil
      ask_one(request, question, lines, chosen, done)
    end)
  end
  choices[#choices + 1] = choice("Type an answer…", function()
    input("Your answer: ", function(text)
      done(reply_of(chosen, text))
    end)
  end)
  choices[#choices + 1] = next(chosen)
    and choice("Done", function()
      done(reply_of(chosen))
    end)
  choose(request, lines, choices)
end

--- Asks Claude's own questions, one after the other. Nothing is answered if the user leaves one undecided.
---@param replies claude-code.PermissionReply[] those so far
local function ask_questions(request, replies)
  local index = #replies + 1
  local question = request.questions[index]
  if not question then
    return send(request, { allow = true, replies = replies })
  end
  local lines = lines_of(question, index, #request.questions)
  ask_one(request, question, lines, {}, function(reply)
    ask_questions(request, vim.list_extend(vim.list_slice(replies), { reply }))
  end)
end

--- An edit with a diff is answered there, where the user may have changed it.
local function has_diff(request)
  local row = request.is_edit and row_of(request)
  return row and require("claude-code.sessions.attention").has_diff(row) or false
end

local function show_diff(request)
  local diff = require("claude-code.editor.diff")
  if not diff.current() then
    diff.switch(1)
  end
  notify.info(("%s has a diff: accept or reject it there"):format(request.title))
end

---@return claude-code.PermissionRequest? of this session; else of the current one, or the oldest
local function find(n)
  local all = requests.list()
  local wanted = n or sessions.current()
  local found = vim.iter(all):find(function(request)
    return wanted ~= nil and request.session == wanted
  end)
  return found or not n and all[1] or nil
end

---@return claude-code.SessionRow? row of a session that asks in its terminal only; the current one comes first
local function find_blocked(n)
  local row = sessions.get(n or sessions.current() or 0)
  if row and row.state == "blocked" then
    return row
  end
  return not n
      and vim.iter(sessions.list()):find(function(other)
        return other.state == "blocked" and other.attached
      end)
    or nil
end

--- There is no request that can be answered here.
local function explain(n)
  local row = find_blocked(n)
  local is_on = require("claude-code.config").get().permissions.answer
  local why = is_on and "it asks in its terminal only"
    or "the option permissions.answer is off, so it asks in its terminal only"
  if not row then
    local who = n and ("Claude %d does not ask"):format(n) or "no Claude session asks"
    return notify.info(who .. " anything")
  end
  require("claude-code.terminal.go_to").session(row)
  notify.info(("%s needs input; %s"):format(label.of(row), why))
end

---@param n? integer number of a session; without it the current one, or the one that has asked longest
function M.run(n)
  local request = find(n)
  if not request then
    explain(n)
  elseif has_diff(request) then
    show_diff(request)
  elseif request.plan and require("claude-code.config").get().permissions.plan then
    require("claude-code.permissions.plan").show(request)
  elseif request.questions then
    ask_questions(request, {})
  else
    choose(request, request.lines, permission_choices(request))
  end
end

return M
