--- A review, from `open` to `close`: the files that the executable lists, and the list, bars, keys and marks that show
--- them. While none is open, a review of everything that waits keeps the signs up to date.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local bar = require("claude-code.editor.review.bar")
local beside = require("claude-code.editor.review.beside")
local buffers = require("claude-code.editor.review.buffer")
local counted = require("claude-code.lib.text").count
local cursor = require("claude-code.editor.review.cursor")
local hunk_keys = require("claude-code.editor.changes.keys")
local lists = require("claude-code.editor.review.list")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local channel = require("claude-code.server.channel")
local task = require("claude-code.lib.task")
local text = require("claude-code.editor.review.text")
local timer = require("claude-code.lib.timer")
local winbar = require("claude-code.editor.windows.winbar")
local windows = require("claude-code.editor.windows")

---Milliseconds after the last change of a text.
local TYPED_MS = 200

---A decision may have moved to another file, where |u| undoes Claude's edit.
local UNDONE = "u took what Claude wrote to %s out of its buffer; <C-r> brings it back, "
  .. ":Claude back takes your last decision back"

local M = {}

---@class claude-code.ReviewScope
---@field scope "turn"|"since"|"session"|"all"|"unreviewed"
---@field session? string
---@field turn? integer
---@field name? string of the turn: "turn 2 ‹rename it›"
---@field of? string its session, if this Neovim did not choose it: "session 0a1b2c3d"
---@field last? integer the last turn of "since", by default that of the session
---@field before? claude-code.ReviewScope to which |gT| returns
---@field paths? string[]

---@class claude-code.ReviewAnswer
---@field version string
---@field files claude-code.ReviewFile[] in order of their paths
---@field counts claude-code.ReviewCounts of all files
---@field incomplete string[] sentences
---@field damage string[] sentences on journals, to be said once
---@field ignored integer files that the option `review.ignore` leaves out
---@field unwritten integer changes that only unsaved text undoes, in projects without any other

---@class claude-code.Review
---@field scope claude-code.ReviewScope
---@field list claude-code.ReviewQuickfix handed on from review to review
---@field is_open boolean
---@field is_listed? boolean its first answer has come
---@field jumps boolean to an entry as soon as there is one
---@field at? claude-code.ReviewEntry that entry, if it is not the first one
---@field wants_beside? boolean the user asked for files beside their text from before, or to end that
---@field keys? claude-code.Key[] of its files and its list
---@field runs? boolean a tool of Claude may be changing files
---@field events? claude-code.Autocommands while it is open
---@field answer? claude-code.ReviewAnswer that was taken last
---@field files claude-code.ReviewFile[]
---@field by_path table<string, claude-code.ReviewFile> by absolute paths
---@field by_buffer table<string, claude-code.ReviewFile|false> by 'buftype' and name: what was looked up
---@field asked integer number of the last question
---@field answered integer number of the question whose answer was taken last
local Review = {}
Review.__index = Review

local function new(scope, list)
  local self = { scope = scope, list = list, is_open = false, files = {}, asked = 0, answered = 0 }
  self.by_path, self.by_buffer = {}, {}
  return setmetatable(self, Review)
end

local current = new({ scope = "unreviewed" }, lists.new())

---@return claude-code.Review the open one, or else the one of everything that waits
function M.current()
  return current
end

---@return claude-code.ReviewFile?
function Review:file_of(buf)
  if #self.files == 0 then
    return nil
  end
  -- Each move of the cursor asks for this, and a disk may be slow.
  local key = vim.bo[buf].buftype .. ":" .. api.nvim_buf_get_name(buf)
  local found = self.by_buffer[key]
  if found == nil then
    local name = path.of_buffer(buf)
    found = name and (self.by_path[name] or self.by_path[path.real(name)]) or false
    self.by_buffer[key] = found
  end
  return found or nil
end

---@param before string words
---@return string words about the files that the option `review.ignore` leaves out; none without any
function Review:ignored(before)
  local count = self.answer and self.answer.ignored or 0
  return count > 0 and before .. counted(count, "ignored file") .. " (review.ignore)" or ""
end

---@return string? sentence about changes that only unsaved buffers undo, where nothing else is listed
function Review:unwritten()
  local count = self.answer and self.answer.unwritten or 0
  local words =
    "what is left to review (%s) is undone in unsaved buffers only; :wa undoes it on disk"
  return count > 0 and words:format(counted(count, "change")) or nil
end

---@return string why nothing is listed
function Review:nothing()
  local scope = self.scope
  local missing = vim.iter(scope.paths or {}):find(function(name)
    return not vim.uv.fs_lstat(name)
  end)
  if missing then
    return ("no file or session is named %s"):format(path.title(missing))
  end
  local where = (scope.paths or scope.scope ~= "unreviewed") and " there" or ""
  local but = self:ignored(", but ")
  if self.runs then
    but = but .. "; it still works, and what it changes is listed once that is recorded"
  end
  return self:unwritten()
    or ("Claude changed nothing%s that you have not reviewed%s"):format(where, but)
end

---Asks for the list. Ignores an answer that arrives after that of a later request.
---@return claude-code.ReviewAnswer?
---@return string? problem
function Review:ask()
  local known = self.answer
  local params = { texts = text.unsaved(), known = known and known.version }
  self.asked = self.asked + 1
  local number, listed = self.asked, self.by_path
  local answer, problem = channel.await("review/list", vim.tbl_extend("force", params, self.scope))
  if not answer then
    return nil, problem
  end
  answer = answer.unchanged and known or answer
  if number > self.answered then
    self.answered, self.answer, self.files = number, answer, answer.files
    self.by_path, self.by_buffer = {}, {}
    for i, file in ipairs(answer.files) do
      file = type(file) == "table" and file or listed[file]
      file.number, answer.files[i] = i, file
      self.by_path[file.path] = file
    end
  end
  return answer
end

---Shows the files in the list. Closes an empty review: the user may also have stashed or undone the changes. Runs in a
---task.
---@private
function Review:show_list()
  local is_first, incomplete = not self.is_listed, self.answer.incomplete
  if is_first then
    self.is_listed = true
    for _, sentence in ipairs(incomplete) do
      notify.warn(sentence, "review.incomplete")
    end
    for _, sentence in ipairs(self.answer.damage) do
      notify.warn_once(sentence, "review.incomplete")
    end
    self.list:clear_filter()
  end
  local items = self.list:items_for(self)
  if self ~= current then
    return -- closed in the meantime, or another one is open
  end
  local count = cursor.track(function()
    return self.list:fill(self, items)
  end)
  if count == 0 then
    self:close()
    M.refresh()
    local left = "none of Claude's changes is left to review" .. self:ignored(", but ")
    if not is_first or #incomplete == 0 then
      notify.info(is_first and self:nothing() or self:unwritten() or left, "review")
    end
  elseif is_first then
    notify.guard(self.list.open, self.list)
    local show = self.jumps and cursor.entry or cursor.show_entry
    show(self, self.list:row_of(self.at) or self.list.rows[self.files[1].path])
  end
end

---Maps keys in the buffers of the review, and in its quickfix window. Neovim's own keys and commands there (`<CR>`,
---|:cc|) open an entry in the window of a normal buffer, or split one: base texts are normal while the list has the
---cursor.
function Review:map_keys()
  if self.list:adopt() then
    vim.schedule(M.refresh)
  end
  local type_of_base = self.list:has_cursor() and "" or "nofile"
  for _, win in ipairs(api.nvim_list_wins()) do
    local buf = api.nvim_win_get_buf(win)
    local is_list = vim.bo[buf].buftype == "quickfix" and self.list:is_current()
    if buffers.base_file(buf) and vim.bo[buf].buftype ~= type_of_base then
      vim.bo[buf].buftype = type_of_base
    end
    if is_list or buffers.base_file(buf) or self:file_of(buf) then
      hunk_keys.map({ buf }, "review", self.keys)
    else
      hunk_keys.unmap(buf, "review")
    end
  end
end

---Updates keys and bars for the buffers that windows show now.
function Review:update_windows()
  if self.is_open then
    self:map_keys()
  end
  bar.update(self)
end

---Asks for the hunks of a buffer, and shows them; lists again if the list has others. A later event handles text that
---changes in the meantime. Runs in a task.
function Review:update(buf)
  local shown = buffers.attach(buf)
  local file, _, is_old = shown:fetch(self)
  if self ~= current then
    return
  elseif not is_old then
    shown:show(self, file)
    beside.update(self)
  end
  bar.update(self)
  if not self.is_open or not shown.is_attached or not shown:is_current(self) then
    return
  end
  local undone = reload.was_undone(buf) and path.title(api.nvim_buf_get_name(buf))
  if undone or shown:is_list_outdated(self) then
    self:refresh()
  end
  if undone then
    notify.info(UNDONE:format(undone), "review")
  end
end

---Updates each buffer that is on screen or has marks, and waits for the current one. Runs in a task.
function Review:update_all()
  local wanted, here = {}, api.nvim_get_current_buf()
  for _, win in ipairs(api.nvim_list_wins()) do
    local buf = api.nvim_win_get_buf(win)
    wanted[buf] = self:file_of(buf) and true or nil
  end
  for _, shown in ipairs(buffers.all()) do
    wanted[shown.buf] = wanted[shown.buf] or #shown.hunks > 0 or nil
  end
  for buf in pairs(wanted) do
    if buffers.attach(buf):matches_list(self) then
      wanted[buf] = nil
    elseif buf ~= here then
      M.update(buf)
    end
  end
  if wanted[here] then
    self:update(here)
  end
end

---Lists again, and shows it everywhere. Runs in a task.
function Review:refresh()
  local answer, problem = self:ask()
  if self ~= current then
    return
  elseif answer and self.is_open then
    self:show_list()
  elseif not answer and self.is_open and not self.is_listed then
    self:close()
  end
  if problem then
    notify.error(problem)
  elseif self == current then
    self:update_windows()
    self:update_all()
  end
end

---The only end of an open review. Undecided changes stay undecided.
function Review:close()
  self.is_open = false
  self.events:stop()
  beside.close()
  bar.update(self)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    hunk_keys.unmap(buf, "review")
    if buffers.base_file(buf) then
      windows.replace_buffer(buf)
    end
  end
  self.list:close()
  current = new({ scope = "unreviewed" }, self.list)
end

---@param jumps boolean
---@param keys claude-code.Key[]
---@param at? claude-code.ReviewEntry
function M.open(scope, jumps, keys, runs, at)
  if current.is_open then
    current:close()
  end
  current = new(scope, current.list)
  current.is_open, current.jumps, current.keys, current.runs = true, jumps, keys, runs
  current.at = at
  current.events = autocommands.new("review.open")
  winbar.follow(current.events, function()
    bar.update(current)
  end)
  current.events:on("WinEnter", function()
    current:map_keys()
  end)
  M.refresh()
end

---Ends the review, and removes the marks from all buffers.
function M.stop()
  if current.is_open then
    current:close()
  end
  -- An answer that is on its way belongs to no review now.
  current = new({ scope = "unreviewed" }, current.list)
  for _, shown in ipairs(buffers.all()) do
    shown:show(current)
  end
end

function M.refresh()
  task.run(function()
    current:refresh()
  end)
end

function M.update(buf)
  task.run(function()
    current:update(buf)
  end)
end

---Closes the open review.
function M.close()
  if not current.is_open then
    return notify.warn("no review is open; :Claude review opens one")
  end
  current:close()
  M.refresh()
end

---Loads a buffer with the base text of a file (BufReadCmd).
function M.load_base(buf)
  buffers.load_base(buf, current.by_path[buffers.base_file(buf) or ""])
end

local update_changed = timer.debounce(TYPED_MS, function()
  for _, shown in ipairs(buffers.all()) do
    if not shown:is_current(current) then
      M.update(shown.buf)
    end
  end
end)

---@param buf integer that a window shows now
local function on_shown(buf)
  -- Maps keys at once: Neovim's own `gr` would replace a character.
  current:update_windows()
  if vim.bo[buf].buftype == "quickfix" then
    current.list:fold()
  end
  vim.schedule(function()
    current:update_windows()
    beside.update(current)
    if api.nvim_buf_is_loaded(buf) and current:file_of(buf) then
      M.update(buf)
    end
  end)
end

local events = autocommands.new("review.view")
events:on({ "TextChanged", "TextChangedI", "BufWritePost" }, update_changed)
-- Users map keys in LspAttach, too.
events:on({ "BufWinEnter", "QuickFixCmdPost", "LspAttach" }, on_shown)
events:on("BufFilePost", function(buf)
  local shown = buffers.get(buf)
  if shown then
    -- The buffer belongs to another file now.
    shown:show(current)
  end
  on_shown(buf)
end)

return M
