--- The quickfix list of a review, and its window. It has two forms. By hunks, an entry is a hunk, a changed mode, or a
--- file that was created, deleted or renamed or has no text. By files, an entry is a file or a folder.
local api, fn = vim.api, vim.fn
local counted = require("claude-code.lib.text").count
local entries = require("claude-code.editor.review.entries")
local saved_layout = require("claude-code.editor.windows.layout")
local terminal = require("claude-code.terminal.window")
local windows = require("claude-code.editor.windows")

---Limits of the window's rows, and of its share of the screen.
local MIN_ROWS, MAX_ROWS, MAX_SHARE = 3, 10, 0.25

local TITLES = {
  unreviewed = "Claude's changes",
  turn = "Claude's changes of %s",
  since = "Claude's changes since %s",
  session = "Claude's changes of this session",
  all = "All of Claude's changes",
}

local M = {}

---Window options.
local FOLDS = {
  foldenable = true,
  foldmethod = "expr",
  foldexpr = "v:lua.require'claude-code.editor.review.list'.fold_level()",
  foldlevel = 99,
  foldtext = "",
}

---@class claude-code.ReviewEntry user_data of a quickfix entry
---@field path string that of a folder ends with a slash
---@field hunk? string id; "mode": the file's mode; nil: the whole file
---@field is_sum? boolean it has all hunks of a file, or all files of a folder
---@field depth? integer of the folders above it; nil: by hunks

---@class claude-code.ReviewQuickfix as it was filled last
---@field id? integer of the list
---@field whole? integer id of the one with all entries
---@field is_by_file? boolean
---@field only? table<string, true> keys of the entries that the user's filter has left, if they are in the list
---@field items table[]
---@field rows table<string, integer> of its entries by their keys, and of the first one of a file by its path
---@field title string
---@field restore? fun() gives the windows their sizes from before the list's window
local List = {}
List.__index = List

function M.new()
  return setmetatable({ items = {}, rows = {}, title = "" }, List)
end

---@param entry claude-code.ReviewEntry
---@return string
function M.key(entry)
  return entry.path .. "\n" .. (entry.hunk or "")
end

---@return claude-code.ReviewEntry? nil: something else has added it (|:grepadd|)
local function entry_of(item)
  return item and type(item.user_data) == "table" and item.user_data.claude_code or nil
end

---@return string|integer level of the row v:lnum for 'foldexpr'
function M.fold_level()
  local entry = entry_of(fn.getqflist({ idx = vim.v.lnum, items = 0 }).items[1])
  local depth = entry and entry.depth or 0
  return entry and entries.is_folder(entry) and ">" .. depth + 1 or depth
end

---@return any value of that field of our list; 0 or nil if the list is gone
function List:get(what)
  return self.id and fn.getqflist({ id = self.id, [what] = 0 })[what]
end

function List:set(action, what)
  fn.setqflist({}, action, what)
  self.id = what.id or fn.getqflist({ id = 0 }).id
  if action == " " then
    self.whole, self.only = self.id, nil
  end
  self.items, self.title, self.rows = what.items, what.title, {}
  for row, item in ipairs(what.items) do
    local entry = item.user_data.claude_code
    self.rows[M.key(entry)], self.rows[entry.path] = row, self.rows[entry.path] or row
  end
end

---@return boolean is it the list that the quickfix window shows?
function List:is_current()
  return self.id ~= nil and fn.getqflist({ id = 0 }).id == self.id
end

---@return boolean is the current window the quickfix window, and shows this list?
function List:has_cursor()
  return vim.bo.buftype == "quickfix" and self:is_current()
end

---@return claude-code.ReviewEntry? nil: there is none, or something else has added it (|:grepadd|)
function List:entry(row)
  return self.id and entry_of(fn.getqflist({ id = self.id, idx = row, items = 0 }).items[1])
end

---@return claude-code.ReviewEntry[] of these rows, and all below a folder
function List:entries(first, last)
  local entry = first == last and self:entry(first)
  if entry and not entries.is_folder(entry) then
    return { entry }
  end
  local found, folder = {}, nil
  for row, item in ipairs(self:get("items") or {}) do
    local one = row >= first and entry_of(item)
    local is_below = one and folder and vim.startswith(one.path, folder)
    if one and (row <= last or is_below) then
      if entries.is_folder(one) then
        folder = is_below and folder or one.path
      else
        found[#found + 1] = one
      end
    end
  end
  return found
end

---@return table<string, true> keys of these entries
function List:keys(first, last)
  local keys = {}
  for _, entry in ipairs(self:entries(first, last)) do
    keys[M.key(entry)] = true
  end
  return keys
end

---Makes this the current list, if another one was made or chosen since.
function List:make_current()
  local number, now = self:get("nr") or 0, fn.getqflist({ nr = 0 }).nr
  if number > 0 and number ~= now then
    local command = vim.cmd[number < now and "colder" or "cnewer"]
    command({ count = math.abs(number - now), mods = { silent = true } })
  end
end

---Returns to the list of all entries.
function List:clear_filter()
  if self.only then
    self.id, self.items, self.only = self.whole, {}, nil
  end
end

---Switches between the two forms when the list is filled next. Drops the user's filter, since a file's row means all
---of its hunks.
function List:change_form()
  local here = self:has_cursor() and self:entry(fn.line("."))
  self.is_by_file = not self.is_by_file
  self:clear_filter()
  self:make_current()
  for row, item in ipairs(here and self:get("items") or {}) do
    if vim.deep_equal(entry_of(item), here) then
      api.nvim_win_set_cursor(0, { row, 0 })
    end
  end
end

---Adopts the list that the user has made from this one (|:Cfilter|), or the whole one (|:colder|), since keys act on
---the entries on screen.
---@return boolean done
function List:adopt()
  if self:is_current() or not entry_of(fn.getqflist({ idx = 1, items = 0 }).items[1]) then
    return false
  end
  self.id, self.items = fn.getqflist({ id = 0 }).id, {}
  self.only = self.id ~= self.whole and self:keys(1, math.huge) or nil
  self:fold(true)
  return true
end

---@return claude-code.ReviewEntry? the current one of the quickfix list, filtered or not, if the cursor is there
function M.entry_here()
  local item = fn.getqflist({ idx = fn.getqflist({ idx = 0 }).idx, items = 0 }).items[1] or {}
  local is_here = item.bufnr == api.nvim_get_current_buf() and item.lnum == fn.line(".")
  local entry = is_here and entry_of(item)
  return entry and not entry.is_sum and entry or nil
end

---The lines that a command acts on; in the quickfix window, the lines of an entry.
---@param range? [integer, integer] rows of the current buffer; that of the cursor if left out
---@return integer buf
---@return integer first
---@return integer last
function List:lines(range)
  local row = api.nvim_win_get_cursor(0)[1]
  local first, last = unpack(range or { row, row })
  local item = self:has_cursor() and fn.getqflist({ idx = first, items = 0 }).items[1]
  if not item then
    return api.nvim_get_current_buf(), first, last
  end
  first = math.max(item.lnum, 1)
  return item.bufnr, first, math.max(item.end_lnum, first)
end

---@return integer[] wins that show this list, in all tab pages
function List:windows()
  local wins = self:is_current() and api.nvim_list_wins() or {}
  return vim.tbl_filter(function(win)
    return fn.win_gettype(win) == "quickfix"
  end, wins)
end

---Folds the folders in the windows of this list, all open.
---@param is_filled? boolean Neovim's folds are those of earlier rows
function List:fold(is_filled)
  for _, win in ipairs(self:windows()) do
    local is_new = vim.wo[win].foldexpr ~= FOLDS.foldexpr
    for option, value in pairs((is_new or is_filled) and FOLDS or {}) do
      vim.wo[win][0][option] = value
    end
  end
end

---@return integer? row of an entry, in another form of the list that of its file
function List:row_of(entry)
  local is_other = entry and (entry.is_sum or self.is_by_file)
  return entry and (self.rows[M.key(entry)] or is_other and self.rows[entry.path]) or nil
end

---Fills the list again. The cursor of each window keeps its entry, or else its row: the next key must not decide about
---another entry.
function List:fill_again(items, title)
  local index = #items > 0 and math.min(math.max(self:get("idx"), 1), #items) or nil
  local places = vim.tbl_map(function(win)
    local row, column = unpack(api.nvim_win_get_cursor(win))
    local closed = api.nvim_win_call(win, function()
      return vim.tbl_filter(function(name)
        return vim.endswith(name, "/") and fn.foldclosed(self.rows[name]) == self.rows[name]
      end, vim.tbl_keys(self.rows))
    end)
    return { win = win, entry = self:entry(row), row = row, column = column, closed = closed }
  end, self:windows())
  local current = self:entry(self:get("idx"))
  self:set("r", { id = self.id, items = items, title = title, idx = index })
  fn.setqflist({}, "a", { id = self.id, idx = self:row_of(current) })
  self:fold(true)
  for _, place in ipairs(places) do
    local row = self:row_of(place.entry) or place.row
    api.nvim_win_set_cursor(place.win, { math.max(math.min(row, #items), 1), place.column })
    api.nvim_win_call(place.win, function()
      for _, folder in ipairs(place.closed) do
        if self.rows[folder] then
          vim.cmd.foldclose({ range = { self.rows[folder] } })
        end
      end
    end)
  end
end

---Makes the entries, again if the review has other files by then. Runs in a task.
---@return table[] items for setqflist()
function List:items_for(review)
  while true do
    local files, names = review.files, require("claude-code.sessions.label").by_conversation()
    local items = entries.items(files, names, self.is_by_file)
    -- In between, another answer may have come, or the user may have wiped out a buffer.
    local is_now = files == review.files
      and vim.iter(items):all(function(item)
        return api.nvim_buf_is_valid(item.bufnr)
      end)
    if is_now then
      return items
    end
  end
end

---Fills the list, or makes it. The user's other lists stay behind it (|:colder|).
---@param items table[] as `items_for` makes them
---@return integer count of entries, also of those that the user's filter leaves out
function List:fill(review, items)
  local names = require("claude-code.sessions.label").by_conversation()
  local name = names and names[review.scope.session]
  local scope = review.scope
  local title = TITLES[scope.scope]:format(scope.name) .. (name and (": " .. name) or "")
  local unlisted = review.answer.counts.files - #review.files
  if unlisted > 0 then
    local more = " (and %s once these are decided, or name a folder)"
    title = title .. more:format(counted(unlisted, "more file"))
  end
  title = title .. review:ignored(", and ")
  local count, only, is_there = #items, self.only, (self:get("nr") or 0) > 0
  local left = vim.tbl_filter(function(one)
    return only and only[M.key(one.user_data.claude_code)]
  end, items)
  if #left > 0 and is_there then
    items, title = left, self:get("title")
  elseif only then
    self:clear_filter()
    self:make_current()
    is_there = self:get("nr") > 0
  end
  if not is_there then
    self:set(" ", { items = items, title = title })
  elseif title ~= self.title or not vim.deep_equal(items, self.items) then
    self:fill_again(items, title)
  end
  return count
end

---Makes the entry of a hunk, or else the first one of its file, the current entry for |:cnext|.
---@param name string absolute
---@param hunk? string id
function List:select(name, hunk)
  local row = self.rows[M.key({ path = name, hunk = hunk })] or self.rows[name]
  if row then
    fn.setqflist({}, "a", { id = self.id, idx = row })
  end
end

---Closes the windows of this list in all tab pages. Restores the sizes of windows, unless the user closed the list and
---may have changed sizes since.
function List:close()
  local restore, closed = self.restore, false
  self.restore = nil
  -- Otherwise Neovim might enter Claude's terminal.
  local file = self:has_cursor() and windows.for_file()
  if file then
    api.nvim_set_current_win(file)
  end
  for _, win in ipairs(self:windows()) do
    for option in pairs(FOLDS) do
      vim.wo[win][0][option] = vim.go[option]
    end
    closed = pcall(api.nvim_win_close, win, false) or closed
  end
  if closed and restore then
    restore()
  end
end

---Opens the quickfix window below all others.
function List:open()
  self:close()
  self:make_current()
  self.restore = saved_layout.keep_sizes()
  local most = math.min(MAX_ROWS, math.floor(vim.o.lines * MAX_SHARE))
  local rows = math.max(MIN_ROWS, math.min(#self.items, most))
  vim.cmd.copen({ count = rows, mods = { split = "botright" } })
  terminal.yield_to(windows.for_file(), api.nvim_get_current_win())
end

return M
