--- The queue of decisions: each is made about the text that the one before it has left, also when one command asks for
--- many (`:cdo`, `:g`), or keys come faster than answers.
local api = vim.api
local notify = require("claude-code.messages.notify")
local task = require("claude-code.lib.task")

local M = {}

local waiting = {} ---@type { work: fun(), follows: boolean }[] the first one runs

---@class claude-code.ReviewPlace
---@field win integer
---@field buf integer
---@field row integer
---@field entry integer the current one of the quickfix list: `:cdo` finds several in one row

local place ---@type claude-code.ReviewPlace where the user last asked for something, or was led since

---@return claude-code.ReviewPlace
local function here()
  local win = api.nvim_get_current_win()
  local row, entry = api.nvim_win_get_cursor(win)[1], vim.fn.getqflist({ idx = 0 }).idx
  return { win = win, buf = api.nvim_win_get_buf(win), row = row, entry = entry }
end

---@return boolean is the user still in the buffer of the last decision, or of what it has led on to?
function M.is_here()
  return api.nvim_get_current_win() == place.win and api.nvim_get_current_buf() == place.buf
end

---Is what the user asks for now about what the last decision leads on to? It is, unless the user has moved the cursor.
---@return boolean
function M.follows()
  return #waiting > 0 and vim.deep_equal(place, here())
end

---Does the running decision move the cursor? Of many that one command asks for only the last one does.
---@return boolean
function M.leads_on()
  return waiting[2] == nil or waiting[2].follows
end

local function run_next()
  if not waiting[1] then
    return
  end
  task.run(waiting[1].work, function(problem)
    if problem then
      notify.error(notify.refusal(problem) or problem)
    end
    table.remove(waiting, 1)
    run_next()
  end)
end

---Runs work in a task, once that before it is over.
---@param work fun()
---@param follows? boolean it is about what the work before leads on to
function M.add(work, follows)
  place = here()
  table.insert(waiting, { work = work, follows = follows or false })
  if #waiting == 1 then
    run_next()
  end
end

---Moves the cursor for the user, or edits the text around it: what was asked for there is about the new place. An error
---(of the user's autocommands, say) is a message: it must not hold up what waits.
---@generic T
---@param move fun(): T
---@return T?
function M.carry(move)
  local from = here()
  local ok, result = pcall(move)
  local now = here()
  local was_there = place and place.win == from.win and place.buf == from.buf
  if was_there and (place.row == from.row or now.buf ~= from.buf) then
    place = now
  end
  if not ok then
    notify.error(tostring(result))
    return nil
  end
  return result
end

---@param move fun() from where the last decision leads on to, or at once if none runs
function M.move(move)
  if not M.follows() then
    return move()
  end
  M.add(function()
    if M.is_here() then
      M.carry(move)
    end
  end, true)
end

return M
