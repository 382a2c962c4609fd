--- Asks the user Claude's own questions, one after the other.
local M = {}

---@class claude-code.QuestionAsker
---@field choose fun(lines: string[], choices: claude-code.AnswerChoice[]) shows lines, and lets choose
---@field done fun(replies: claude-code.PermissionReply[]) all are answered

---@param question claude-code.PermissionQuestion
---@param index integer
---@param count integer
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
---@param text? string
---@return claude-code.PermissionReply
local function reply_of(chosen, text)
  local options = vim.tbl_keys(chosen)
  table.sort(options)
  return { options = options, text = text }
end

---@param chosen table<integer, true>
---@param done fun(reply: claude-code.PermissionReply)
local function type_own(chosen, done)
  vim.ui.input({ prompt = "Your answer: " }, function(text)
    if text and vim.trim(text) ~= "" then
      done(reply_of(chosen, text))
    end
  end)
end

---@param question claude-code.PermissionQuestion
---@param asker claude-code.QuestionAsker
---@param chosen table<integer, true> of a question with several options
---@param done fun(reply: claude-code.PermissionReply)
local function ask_one(question, lines, asker, chosen, done)
  local choices = {}
  for number, option in ipairs(question.options) do
    local mark = question.multiple and (chosen[number] and "[x] " or "[ ] ") or ""
    choices[number] = {
      text = mark .. option.label,
      run = function()
        if not question.multiple then
          return done({ options = { number } })
        end
        chosen[number] = not chosen[number] or nil
        ask_one(question, lines, asker, chosen, done)
      end,
    }
  end
  table.insert(choices, {
    text = "Type an answer…",
    run = function()
      type_own(chosen, done)
    end,
  })
  if next(chosen) then
    table.insert(choices, {
      text = "Done",
      run = function()
        done(reply_of(chosen))
      end,
    })
  end
  asker.choose(lines, choices)
end

--- Nothing is answered if the user leaves one undecided.
---@param questions claude-code.PermissionQuestion[]
---@param asker claude-code.QuestionAsker
---@param replies? claude-code.PermissionReply[] those so far
function M.ask(questions, asker, replies)
  replies = replies or {}
  local index = #replies + 1
  local question = questions[index]
  if not question then
    return asker.done(replies)
  end
  ask_one(question, lines_of(question, index, #questions), asker, {}, function(reply)
    M.ask(questions, asker, vim.list_extend(vim.list_slice(replies), { reply }))
  end)
end

return M
