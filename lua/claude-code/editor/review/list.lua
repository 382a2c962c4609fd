--- The quickfix list of a review, and its window. Each hunk is an entry; a file that was created, deleted or renamed,
--- or that has no text, is one entry; so is a changed mode beside hunks.
local api, fn = vim.api, vim.fn
local buffers = require("claude-code.editor.review.buffer")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local saved_layout = require("claude-code.editor.windows.layout")
local terminal = require("claude-code.terminal.window")
local visible = require("claude-code.lib.text").visible
local windows = require("claude-code.editor.windows")

---Characters of an entry; a prompt also takes no more than this share of the columns.
local MAX_CODE_CHARACTERS, MAX_PROMPT_CHARACTERS, PROMPT_SHARE = 60, 40, 0.25

local WORDS = {
  created = "new file",
  deleted = "deleted",
  mode = "mode changed",
  unseen = "changed",
  changed = "changed",
}

---Rows of the window, and its share of the screen: the user reads the files, and the list scrolls.
local MIN_ROWS, MAX_ROWS, MAX_SHARE = 3, 10, 0.25

local TITLES = {
  unreviewed = "Claude's changes",
  turn = "Claude's changes of its last turn",
  session = "Claude's changes of this session",
  all = "All changes of Claude's",
}

local M = {
  --- Whose edits conflict with a hunk.
  WHOSE = { user = "your", claude = "Claude's later" },
}

---@class claude-code.ReviewEntry user_data of a quickfix entry
---@field path string
---@field hunk? string id; "mode": the file's mode; nil: the whole file

---@param file claude-code.ReviewFile
---@return boolean is it decided as a whole, whatever its hunks are?
function M.is_whole(file)
  return file.kind ~= "changed" or file.hunk_count == 0
end

---@param mode claude-code.ReviewMode
---@return string
function M.mode_words(mode)
  return ("mode %o, was %o"):format(mode.after, mode.before)
end

---@param file claude-code.ReviewFile
---@return string
function M.words(file)
  local words, reason = WORDS[file.kind], file.cannot_undo
  if file.kind == "renamed" then
    words = "renamed from " .. fn.fnamemodify(file.from or "?", ":.")
  elseif file.binary then
    words = (words and words .. ", " or "") .. buffers.binary_words(file)
  elseif file.kind == "created" and file.hunk_count == 0 then
    words = "new empty file"
  elseif file.kind == "changed" then
    words = ("changed, %d hunks"):format(file.hunk_count)
  end
  if file.mode and file.kind == "mode" then
    words = M.mode_words(file.mode)
  elseif file.mode and file.kind ~= "created" and file.kind ~= "deleted" then
    words = words .. ", " .. M.mode_words(file.mode)
  end
  return reason and ("%s, cannot be undone here (it %s)"):format(words, reason) or words
end

---@return string in one line, of at most so many characters
local function shortened(bytes, most)
  local text = visible((vim.trim(bytes):gsub("%s+", " ")))
  local cut = fn.strcharpart(text, 0, most)
  return cut ~= text and cut .. "…" or cut
end

---@param names? table<string, string> of sessions, by their ids; nil unless several run
---@param above? claude-code.ReviewOwner of the entry above, which shows the prompt
---@return string[] words about the last one
local function origin(owners, names, above)
  local last = owners[#owners]
  if not last then
    return {}
  end
  local words = { names and (names[last.session] or last.session:sub(1, 8)) }
  words[#words + 1] = last.turn and ("turn %d"):format(last.turn)
  local is_shown = above and above.session == last.session and above.prompt == last.prompt
  if last.prompt and last.prompt ~= "" and not is_shown then
    local most = math.min(MAX_PROMPT_CHARACTERS, math.floor(vim.o.columns * PROMPT_SHARE))
    words[#words + 1] = ("‹%s›"):format(shortened(last.prompt, most))
  end
  words[#words + 1] = last.agent and (last.tool .. " of a subagent") or last.tool
  return words
end

---@param is_stale boolean the buffer lacks it
local function flags(hunk, is_stale)
  local found = { is_stale and "[not in your buffer, which has unsaved edits]" or nil }
  found[#found + 1] = hunk.ends and ("[%s]"):format(hunk.ends) or nil
  if hunk.conflict then
    found[#found + 1] = ("[%s edits conflict]"):format(M.WHOSE[hunk.conflict])
  elseif hunk.mixed then
    found[#found + 1] = "[with your edits]"
  end
  return #found > 0 and table.concat(found, " ") or nil
end

---@class claude-code.ListedChange
---@field words string[]
---@field owners claude-code.ReviewOwner[]
---@field rows? [integer, integer] first row and count
---@field hunk? string as of an entry

---@return claude-code.ListedChange[]
local function changes_of(file)
  if M.is_whole(file) or #file.hunks < file.hunk_count then
    local row = file.hunks[1] and file.hunks[1].new[1]
    return { { rows = row and { row, 1 }, words = { M.words(file) }, owners = file.owners } }
  end
  local found, mode, buf = {}, file.mode, path.loaded_buffer(file.path)
  if mode then
    found[1] = { hunk = "mode", words = { M.mode_words(mode) }, owners = mode.owners }
  end
  local is_stale = buf ~= nil and reload.is_stale(buf)
  for _, hunk in ipairs(file.hunks) do
    local words = { ("+%d -%d"):format(hunk.added, hunk.removed) }
    local code = shortened(hunk.code or "", MAX_CODE_CHARACTERS)
    words[#words + 1] = code ~= "" and code or nil
    words[#words + 1] = flags(hunk, is_stale)
    found[#found + 1] = { hunk = hunk.id, rows = hunk.new, words = words, owners = hunk.owners }
  end
  return found
end

---@param names? table<string, string> of sessions, by their ids; nil unless several run
---@return table[] items for setqflist()
local function items_of(files, names)
  local items, above = {}, nil
  for _, file in ipairs(files) do
    local name, short = buffers.shown_name(file), fn.fnamemodify(file.path, ":.")
    local shown = visible(short)
    for _, change in ipairs(changes_of(file)) do
      local first, count = unpack(change.rows or { 1, 1 })
      local words = vim.list_extend(change.words, origin(change.owners, names, above))
      items[#items + 1] = {
        filename = name,
        module = (name ~= file.path or shown ~= short) and shown or nil,
        lnum = math.max(first, 1),
        end_lnum = count > 1 and first + count - 1 or nil,
        text = table.concat(words, "  "),
        user_data = { claude_code = { path = file.path, hunk = change.hunk } },
      }
      above = change.owners[#change.owners]
    end
  end
  return items
end

---@class claude-code.ReviewQuickfix as it was filled last
---@field id? integer of the list
---@field whole? integer id of the one with all entries
---@field only? table<string, true> keys of the entries that the user's filter has left, if they are in the list
---@field items table[]
---@field rows table<string, integer> of its entries by their keys, and of the first one of a file by its path
---@field title string
---@field restore? fun() gives the windows their sizes from before the list's window
local List = {}
List.__index = List

---@return claude-code.ReviewQuickfix
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

local function rows_of(items)
  local rows = {}
  for row, item in ipairs(items) do
    local entry = item.user_data.claude_code
    rows[M.key(entry)], rows[entry.path] = row, rows[entry.path] or row
  end
  return rows
end

---@return any of our list; 0 or nil if it is gone
function List:get(what)
  return self.id and fn.getqflist({ id = self.id, [what] = 0 })[what]
end

function List:set(action, what)
  fn.setqflist({}, action, what)
  self.id = what.id or fn.getqflist({ id = 0 }).id
  self.whole = self.only and self.whole or self.id
  self.items, self.title, self.rows = what.items, what.title, rows_of(what.items)
end

---@return boolean is it the list that the quickfix window shows?
function List:is_current()
  return self.id ~= nil and fn.getqflist({ id = 0 }).id == self.id
end

---@return boolean is the current window the quickfix window, and shows this list?
function List:has_cursor()
  return vim.bo.buftype == "quickfix" and self:is_current()
end

---@param row integer
---@return claude-code.ReviewEntry? nil: there is none, or something else has added it (|:grepadd|)
function List:entry(row)
  return self.id and entry_of(fn.getqflist({ id = self.id, idx = row, items = 0 }).items[1])
end

---@param first integer
---@param last integer
---@return claude-code.ReviewEntry[]
function List:entries(first, last)
  if first == last then
    return { self:entry(first) }
  end
  local items = self:get("items") or {}
  return vim.iter(vim.list_slice(items, first, math.min(last, #items))):map(entry_of):totable()
end

---@param first integer
---@param last integer
---@return table<string, true> keys of these entries
function List:keys(first, last)
  local keys = {}
  for _, entry in ipairs(self:entries(first, last)) do
    keys[M.key(entry)] = true
  end
  return keys
end

---Makes ours the current list again, if another one was made or chosen since.
function List:choose()
  local number, now = self:get("nr") or 0, fn.getqflist({ nr = 0 }).nr
  if number > 0 and number ~= now then
    local command = vim.cmd[number < now and "colder" or "cnewer"]
    command({ count = math.abs(number - now), mods = { silent = true } })
  end
end

---Returns to the list of all entries.
function List:unfilter()
  if self.only then
    self.id, self.items, self.only = self.whole, {}, nil
  end
end

---Adopts the list that the user has made of this one (|:Cfilter|), or the whole one behind it (|:colder|): keys act on
---the entries that are on screen.
---@return boolean done
function List:adopt()
  if self:is_current() or not entry_of(fn.getqflist({ idx = 1, items = 0 }).items[1]) then
    return false
  end
  self.id, self.items = fn.getqflist({ id = 0 }).id, {}
  self.only = self.id ~= self.whole and self:keys(1, math.huge) or nil
  return true
end

---@return claude-code.ReviewEntry? the current one of the quickfix list, filtered or not, if the cursor is there
function M.entry_here()
  local item = fn.getqflist({ idx = fn.getqflist({ idx = 0 }).idx, items = 0 }).items[1] or {}
  local is_here = item.bufnr == api.nvim_get_current_buf() and item.lnum == fn.line(".")
  return is_here and entry_of(item) or nil
end

---The lines that a command acts on: in the quickfix window those of an entry.
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

---Fills the list again. The cursor of each of its windows stays at its entry, or else in its row: the next key must
---not decide about another entry.
function List:fill_again(items, title)
  local index = #items > 0 and math.min(math.max(self:get("idx"), 1), #items) or nil
  local places = vim.tbl_map(function(win)
    local row, column = unpack(api.nvim_win_get_cursor(win))
    return { win = win, entry = self:entry(row), row = row, column = column }
  end, self:windows())
  self:set("r", { id = self.id, items = items, title = title, idx = index })
  for _, place in ipairs(places) do
    local row = place.entry and self.rows[M.key(place.entry)] or place.row
    api.nvim_win_set_cursor(place.win, { math.max(math.min(row, #items), 1), place.column })
  end
end

---Fills the list, or makes it. The user's other lists stay behind it (|:colder|).
---@param review claude-code.Review
---@return integer count of entries, also of those that the user's filter leaves out
function List:fill(review)
  local names = require("claude-code.sessions.label").by_conversation()
  local items, name = items_of(review.files, names), names and names[review.scope.session]
  local title = TITLES[review.scope.scope] .. (name and (": " .. name) or "")
  local unlisted = review.answer.counts.files - #review.files
  if unlisted > 0 then
    local more = " (%d more files follow once these are decided, or name a folder)"
    title = title .. more:format(unlisted)
  end
  title = title .. review:ignored(", and ")
  local count, only, is_there = #items, self.only, (self:get("nr") or 0) > 0
  local left = vim.tbl_filter(function(one)
    return only and only[M.key(one.user_data.claude_code)]
  end, items)
  if #left > 0 and is_there then
    items, title = left, self:get("title")
  elseif only then
    self:unfilter()
    self:choose()
    is_there = self:get("nr") > 0
  end
  if not is_there then
    self:set(" ", { items = items, title = title })
  elseif title ~= self.title or not vim.deep_equal(items, self.items) then
    self:fill_again(items, title)
  end
  return count
end

---Makes the entry of a hunk, or else the first one of its file, the current one for |:cnext|.
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
  -- Neovim might enter Claude's terminal next.
  local file = self:has_cursor() and windows.for_file()
  if file then
    api.nvim_set_current_win(file)
  end
  for _, win in ipairs(self:windows()) do
    closed = pcall(api.nvim_win_close, win, false) or closed
  end
  if closed and restore then
    restore()
  end
end

---Opens the quickfix window below all others.
function List:open()
  self:close()
  self:choose()
  self.restore = saved_layout.keep_sizes()
  local most = math.min(MAX_ROWS, math.floor(vim.o.lines * MAX_SHARE))
  local rows = math.max(MIN_ROWS, math.min(#self.items, most))
  vim.cmd.copen({ count = rows, mods = { split = "botright" } })
  terminal.yield_to(windows.for_file(), api.nvim_get_current_win())
end

return M
