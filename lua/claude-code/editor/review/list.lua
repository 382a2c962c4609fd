--- The quickfix list of a review.
local fn = vim.fn
local items = require("claude-code.editor.review.items")
local scopes = require("claude-code.editor.review.scope")

local M = {}

local list_id ---@type integer?
---As this module filled the list last; `tick` is another one as soon as anybody changes the list.
---@type { items: table[], title: string, tick: integer }
local filled = { items = {}, title = "", tick = -1 }

---@return boolean
local function exists()
  return list_id ~= nil and fn.getqflist({ id = list_id, nr = 0 }).id == list_id
end

---@return integer tick
local function tick_now()
  return list_id and fn.getqflist({ id = list_id, changedtick = 0 }).changedtick or -1
end

---@param action " "|"r"|"a"
---@param what table
local function set(action, what)
  local was_ours = filled.tick == tick_now()
  fn.setqflist({}, action, what)
  list_id = list_id or fn.getqflist({ id = 0 }).id
  filled = {
    items = what.items or filled.items,
    title = what.title or filled.title,
    tick = (what.items or was_ours) and tick_now() or -1,
  }
end

---@return boolean is it the list that the quickfix window shows?
function M.is_current()
  return list_id ~= nil and fn.getqflist({ id = 0 }).id == list_id
end

---@return boolean is the current window the quickfix window, and shows this list?
function M.has_cursor()
  return vim.bo.buftype == "quickfix" and M.is_current()
end

---Runs `fill`, and leaves the quickfix window's cursor at its entry, or at the row where it was: the
---next key must not decide about another one.
---@param found table[] the new items
---@param fill fun()
local function keep_cursor(found, fill)
  local win = M.is_current() and fn.getqflist({ winid = 0 }).winid or 0
  if win == 0 then
    return fill()
  end
  local row, column = unpack(vim.api.nvim_win_get_cursor(win))
  local entry = M.entries(row, row)[1]
  fill()
  for i, item in ipairs(found) do
    if items.is_same_entry(item.user_data.claude_code, entry) then
      row = i
      break
    end
  end
  vim.api.nvim_win_set_cursor(win, { math.max(math.min(row, #found), 1), column })
end

---Fills the list; makes it if it is not there. The user's other lists stay behind it (|:colder|).
---@param scope claude-code.ReviewScope
---@return integer count of entries
function M.fill(scope)
  -- Of sessions, by their ids; nil unless several run.
  local names = require("claude-code.terminal.label").by_conversation()
  local found, title = items.all(names), scopes.title(scope, names)
  if not exists() then
    list_id = nil
    set(" ", { items = found, title = title })
  elseif
    filled.tick ~= tick_now()
    or filled.title ~= title
    or not items.are_same(found, filled.items)
  then
    local index = fn.getqflist({ id = list_id, idx = 0 }).idx
    local what = { id = list_id, items = found, title = title }
    what.idx = #found > 0 and math.min(math.max(index, 1), #found) or nil
    keep_cursor(found, function()
      set("r", what)
    end)
  end
  return #found
end

---Makes ours the current list again, if another one was made or chosen since.
function M.choose()
  local number = list_id and fn.getqflist({ id = list_id, nr = 0 }).nr or 0
  local now = fn.getqflist({ nr = 0 }).nr
  if number > 0 and number ~= now then
    vim.cmd(("silent %d%s"):format(math.abs(number - now), number < now and "colder" or "cnewer"))
  end
end

---Makes the entry of a hunk, or the first one of its file, the current one, where |:cnext| goes on from.
---@param name string absolute
---@param hunk? string id
function M.select(name, hunk)
  if not exists() then
    return
  end
  local index
  for i, entry in ipairs(M.entries(1, math.huge)) do
    if entry.path == name and (not index or entry.hunk == hunk) then
      index = i
    end
  end
  if index then
    set("a", { id = list_id, idx = index })
  end
end

---Entries of the list, as :Claude keep and :Claude undo take them.
---@param first integer
---@param last integer
---@return claude-code.ReviewEntry[] without those that something else has added (|:grepadd|)
function M.entries(first, last)
  local found = {}
  local all = filled.tick == tick_now() and filled.items
    or fn.getqflist({ id = list_id, items = 0 }).items
    or {}
  for index = first, math.min(last, #all) do
    local data = all[index].user_data
    found[#found + 1] = type(data) == "table" and data.claude_code or nil
  end
  return found
end

return M
