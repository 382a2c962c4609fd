--- The quickfix list of a review, and its window.
local api, fn = vim.api, vim.fn
local entries = require("claude-code.editor.review.entries")
local listing = require("claude-code.editor.review.listing")
local saved_layout = require("claude-code.editor.windows.layout")
local terminal = require("claude-code.terminal.providers.window")
local queue = require("claude-code.editor.review.queue")
local windows = require("claude-code.editor.windows")

---Rows of the window.
local LEAST, MOST = 3, 10
---It takes this part of the screen at most: the files are what is read, and the list scrolls.
local PART = 0.25

local TITLES = {
  unreviewed = "Claude's changes",
  turn = "Claude's changes of its last turn",
  session = "Claude's changes of this session",
  all = "All changes of Claude's",
}

local M = {}

---@class claude-code.ReviewQuickfix as this module filled the list last
---@field id? integer of the list
---@field whole? integer id of the one with all entries
---@field only? table<string, true> keys of the entries that the user's filter has left, if they are in the list
---@field items table[]
---@field title string
---@field restore? fun() gives the windows their sizes from before the list's window
local quickfix = { items = {}, title = "" }

---@param entry claude-code.ReviewEntry
---@return string
function M.key(entry)
  return entry.path .. "\n" .. (entry.hunk or "")
end

---@return claude-code.ReviewEntry? nil: something else has added it (|:grepadd|)
local function entry_of(item)
  return item and type(item.user_data) == "table" and item.user_data.claude_code or nil
end

---@return any of our list; 0 or nil if it is gone
local function get(what)
  return quickfix.id and fn.getqflist({ id = quickfix.id, [what] = 0 })[what]
end

local function set(action, what)
  fn.setqflist({}, action, what)
  quickfix.id = what.id or fn.getqflist({ id = 0 }).id
  quickfix.whole = quickfix.only and quickfix.whole or quickfix.id
  quickfix.items, quickfix.title = what.items, what.title
end

---@return boolean is it the list that the quickfix window shows?
function M.is_current()
  return quickfix.id ~= nil and fn.getqflist({ id = 0 }).id == quickfix.id
end

---@return boolean is the current window the quickfix window, and shows this list?
function M.has_cursor()
  return vim.bo.buftype == "quickfix" and M.is_current()
end

---Entries of the list, as `:Claude keep` and `:Claude undo` take them.
---@param first integer
---@param last integer
---@return claude-code.ReviewEntry[] without those that something else has added (|:grepadd|)
function M.entries(first, last)
  local found = {}
  local all = get("items") or {}
  for index = first, math.min(last, #all) do
    found[#found + 1] = entry_of(all[index])
  end
  return found
end

---@param first integer
---@param last integer
---@return table<string, true> keys of these entries
function M.keys(first, last)
  local keys = {}
  for _, entry in ipairs(M.entries(first, last)) do
    keys[M.key(entry)] = true
  end
  return keys
end

---Makes ours the current list again, if another one was made or chosen since.
local function choose()
  local number, now = get("nr") or 0, fn.getqflist({ nr = 0 }).nr
  if number > 0 and number ~= now then
    local command = vim.cmd[number < now and "colder" or "cnewer"]
    command({ count = math.abs(number - now), mods = { silent = true } })
  end
end

---Goes on with the list of all entries.
function M.unfilter()
  if quickfix.only then
    quickfix.id, quickfix.items, quickfix.only = quickfix.whole, {}, nil
  end
end

---Takes the list that the user has made of this one (|:Cfilter|) for the review's, or the whole one again that is
---behind it (|:colder|): the keys are about the entries that are on screen.
---@return boolean done
function M.adopt()
  if M.is_current() or not entry_of(fn.getqflist({ idx = 1, items = 0 }).items[1]) then
    return false
  end
  quickfix.id, quickfix.items = fn.getqflist({ id = 0 }).id, {}
  quickfix.only = quickfix.id ~= quickfix.whole and M.keys(1, math.huge) or nil
  return true
end

---@return claude-code.ReviewEntry? the current one of the quickfix list, also of one that the user has filtered
--- (|:Cfilter|), if the cursor is where that leads to
function M.entry_here()
  local item = fn.getqflist({ idx = fn.getqflist({ idx = 0 }).idx, items = 0 }).items[1] or {}
  local is_here = item.bufnr == api.nvim_get_current_buf() and item.lnum == fn.line(".")
  return is_here and entry_of(item) or nil
end

---The lines that a command is about: in the quickfix window those of an entry.
---@param range? [integer, integer] rows of the current buffer; that of the cursor if left out
---@return integer buf
---@return integer first
---@return integer last
function M.lines(range)
  local row = api.nvim_win_get_cursor(0)[1]
  local first, last = unpack(range or { row, row })
  local item = M.has_cursor() and fn.getqflist()[first]
  if not item then
    return api.nvim_get_current_buf(), first, last
  end
  first = math.max(item.lnum, 1)
  return item.bufnr, first, math.max(item.end_lnum, first)
end

---@return integer[] wins that show this list, in all tab pages
local function windows_of_list()
  return vim
    .iter(M.is_current() and fn.getwininfo() or {})
    :map(function(info)
      return info.quickfix == 1 and info.loclist == 0 and info.winid or nil
    end)
    :totable()
end

---Fills the list again, and leaves the cursor of each of its windows at its entry, or at the row where it was:
---the next key must not decide about another one.
local function fill_again(items, title)
  local index = #items > 0 and math.min(math.max(get("idx"), 1), #items) or nil
  local rows = {}
  for row, item in ipairs(items) do
    rows[M.key(item.user_data.claude_code)] = row
  end
  local places = vim.tbl_map(function(win)
    local row, column = unpack(api.nvim_win_get_cursor(win))
    local shown = M.entries(row, row)[1]
    return { win = win, row = shown and rows[M.key(shown)] or row, column = column }
  end, windows_of_list())
  set("r", { id = quickfix.id, items = items, title = title, idx = index })
  for _, place in ipairs(places) do
    local row = math.max(math.min(place.row, #items), 1)
    api.nvim_win_set_cursor(place.win, { row, place.column })
  end
end

---Fills the list; makes it if it is not there. The user's other lists stay behind it (|:colder|).
---@param scope claude-code.ReviewScope
---@return integer count of entries, also of those that the user's filter leaves out
function M.fill(scope)
  -- By the ids of the sessions; nil unless several run.
  local names = require("claude-code.sessions.label").by_conversation()
  local items, name = entries.all(names), names and names[scope.session]
  local unlisted = listing.unlisted()
  local more = unlisted > 0
    and (" (%d more files follow once these are decided, or name a folder)"):format(unlisted)
  local title = TITLES[scope.scope] .. (name and (": " .. name) or "") .. (more or "")
  title = title .. listing.ignored(", and ")
  local count, only = #items, quickfix.only
  local left = vim.tbl_filter(function(one)
    return only and only[M.key(one.user_data.claude_code)]
  end, items)
  if #left > 0 and get("nr") > 0 then
    items, title = left, get("title")
  elseif only then
    M.unfilter()
    choose()
  end
  local is_same = title == quickfix.title and vim.deep_equal(items, quickfix.items)
  if (get("nr") or 0) == 0 then
    set(" ", { items = items, title = title })
  elseif not is_same then
    queue.carry(function()
      fill_again(items, title)
    end)
  end
  return count
end

---Makes the entry of a hunk, or the first one of its file, the current one, where |:cnext| goes on from.
---@param name string absolute
---@param hunk? string id
function M.select(name, hunk)
  local index
  for i, entry in ipairs(M.entries(1, math.huge)) do
    if entry.path == name and (not index or entry.hunk == hunk) then
      index = i
    end
  end
  if index then
    fn.setqflist({}, "a", { id = quickfix.id, idx = index })
  end
end

---Closes the quickfix window if it shows the list of the review, in other tab pages, too. Sizes come back unless the
---user closed it: what they made of the windows since then stays.
function M.close()
  local restore, closed = quickfix.restore, false
  quickfix.restore = nil
  -- Neovim might go on to Claude's terminal below.
  local file = M.has_cursor() and windows.for_file()
  if file then
    api.nvim_set_current_win(file)
  end
  for _, win in ipairs(windows_of_list()) do
    closed = pcall(api.nvim_win_close, win, false) or closed
  end
  if closed and restore then
    restore()
  end
end

---Opens the quickfix window below all others.
function M.open()
  M.close()
  choose()
  quickfix.restore = saved_layout.keep_sizes()
  local most = math.min(MOST, math.floor(vim.o.lines * PART))
  local rows = math.max(LEAST, math.min(#quickfix.items, most))
  vim.cmd.copen({ count = rows, mods = { split = "botright" } })
  terminal.yield_to(windows.for_file(), api.nvim_get_current_win())
end

return M
