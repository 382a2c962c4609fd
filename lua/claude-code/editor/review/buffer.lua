--- A buffer under review: its hunks and their marks, until it is unloaded or renamed.
local api = vim.api
local file_lines = require("claude-code.editor.documents.lines")
local marks = require("claude-code.editor.review.marks")
local path = require("claude-code.editor.documents.path")
local platform = require("claude-code.lib.platform")
local reload = require("claude-code.editor.documents.reload")
local channel = require("claude-code.server.channel")
local counted = require("claude-code.lib.text").count
local text = require("claude-code.editor.review.text")
local visible = require("claude-code.lib.text").visible

--- Buffers with the base text of a deleted file, which the user may bring back, or words about a binary file.
local SCHEME = "claude-code://base"

local M = {}

---@class claude-code.ReviewOwner a call of a tool that made a hunk
---@field session string
---@field turn? integer of the session, from 1
---@field prompt? string
---@field agent? string
---@field tool string
---@field command? string
---@field at integer ms since the epoch

---@class claude-code.ReviewHunk rows from 1; a side without rows has the row above
---@field id string
---@field old [integer, integer] first row and count in the base text
---@field new [integer, integer] in the current text
---@field added integer
---@field removed integer
---@field mixed boolean
---@field conflict? "user"|"claude" whose later edits conflict: the user's, or Claude's outside of the scope
---@field ends? string what differs where no character does: the last newline, line ends, a byte order mark
---@field owners? claude-code.ReviewOwner[] only in the list
---@field in_parts? boolean all lines of a file that was moved: only those that differ are drawn
---@field code? string bytes of its first line that is not blank; only in the list
---@field old_lines? string[] bytes; only of a file that was requested alone
---@field new_lines? string[] only of a hunk that is drawn in parts

---@class claude-code.ReviewMode permission bits that Claude changed
---@field before integer
---@field after integer
---@field owners claude-code.ReviewOwner[]

---@class claude-code.ReviewFile
---@field path string absolute
---@field kind "changed"|"created"|"deleted"|"renamed"|"binary"|"mode"|"symlink"|"unseen"
---@field binary? boolean its bytes are not text, or it is a symlink
---@field from? string
---@field same_text? boolean a renamed file still has its old text
---@field hunk_count integer
---@field added integer in all hunks
---@field removed integer
---@field hunks claude-code.ReviewHunk[] the first one alone where the list would be too long
---@field mode? claude-code.ReviewMode in a "changed" file it is decided beside the hunks
---@field owners claude-code.ReviewOwner[]
---@field cannot_undo? string why the whole file cannot be undone
---@field version string differs for another file, or for other hunks
---@field number? integer in the list
---@field listed? { items: table[], last?: claude-code.ReviewOwner, from: table } its entries in the last list

---@class claude-code.ReviewBuffer
---@field buf integer
---@field hunks claude-code.ReviewHunk[] of the text that it had at `tick`
---@field tick? integer
---@field review? claude-code.Review that the hunks are of
---@field version? string of its file, with these hunks
---@field is_attached boolean
---@field asked_tick? integer of the text that last made us ask for the list
---@field marks? claude-code.ReviewMarks what shows them
---@field is_beside? boolean its old lines are in a window beside it
---@field on_lines? fun() after each change of its text
---@field comment_marks table<string, integer> extmarks by the ids of the comments
local Buffer = {}
Buffer.__index = Buffer

local attached = {} ---@type table<integer, claude-code.ReviewBuffer>

---@return claude-code.ReviewBuffer? nil: nothing of the review was shown there
function M.get(buf)
  return attached[buf]
end

---@return claude-code.ReviewBuffer[]
function M.all()
  return vim.tbl_values(attached)
end

---@return claude-code.ReviewHunk[] of the text it had lately
function M.hunks(buf)
  local self = M.get(buf)
  return self and self.hunks or {}
end

---@param buf integer loaded
---@return claude-code.ReviewBuffer
function M.attach(buf)
  local self = attached[buf]
  if self then
    return self
  end
  self = setmetatable({ buf = buf, hunks = {}, comment_marks = {} }, Buffer)
  -- Without 'hidden' it may have been unloaded a moment ago.
  self.is_attached = api.nvim_buf_attach(buf, false, {
    -- It would detach otherwise.
    on_reload = function() end,
    on_lines = function()
      if self.on_lines then
        self.on_lines()
      end
    end,
    on_detach = function()
      self.is_attached, attached[buf] = false, nil
    end,
  })
  attached[buf] = self.is_attached and self or nil
  return self
end

---@return table? variable `vim.b.claude_code_review`
local function summary(hunks)
  if #hunks == 0 then
    return nil
  end
  local added, removed = 0, 0
  for _, hunk in ipairs(hunks) do
    added, removed = added + hunk.added, removed + hunk.removed
  end
  return { hunks = #hunks, added = added, removed = removed }
end

---@param file? claude-code.ReviewFile with the hunks of the text that it has now; nil: nothing to review
function Buffer:show(review, file)
  if not review.is_open and require("claude-code.config").get().review.signs == "never" then
    file = nil -- nothing keeps it up to date
  end
  local hunks = file and file.hunks or {}
  self.hunks, self.version, self.review = hunks, file and file.version, review
  self.tick = api.nvim_buf_get_changedtick(self.buf)
  vim.b[self.buf].claude_code_review = summary(hunks)
  self.marks = marks.show(self.buf, self.marks, hunks, review.is_open, self.is_beside)
end

function Buffer:set_beside(review, is_beside)
  self.is_beside = is_beside
  if self:is_current(review) then
    self.marks = marks.show(self.buf, self.marks, self.hunks, review.is_open, is_beside)
  end
end

---Asks for the hunks of its text, with their lines. Runs in a task.
---@return claude-code.ReviewFile? file nil: nothing to review, or the buffer has older, unsaved edits
---@return string? problem
---@return boolean? is_old the buffer's text or name has changed since
function Buffer:fetch(review)
  local buf = self.buf
  local name, tick = path.of_buffer(buf), api.nvim_buf_get_changedtick(buf)
  if not name or reload.is_stale(buf) or M.file_without_hunks(review, buf) then
    return nil
  end
  local params = { path = path.real(name), text = text.of(buf) }
  local value, problem = channel.await("review/file", vim.tbl_extend("force", params, review.scope))
  local is_old = not self.is_attached
    or api.nvim_buf_get_changedtick(buf) ~= tick
    or path.of_buffer(buf) ~= name
  return not is_old and value or nil, problem, is_old
end

---@return boolean are its hunks those of the text that it has now?
function Buffer:is_current(review)
  return self.tick == api.nvim_buf_get_changedtick(self.buf) and self.review == review
end

---@return boolean are its hunks those of its text and of the list?
function Buffer:matches_list(review)
  local file = review:file_of(self.buf)
  return self:is_current(review)
    and not reload.is_stale(self.buf)
    and self.version == (file and file.version)
end

---@return boolean does the list have other hunks than this text, and was not asked for again since?
function Buffer:is_list_outdated(review)
  local file = review:file_of(self.buf)
  local is_listed = #self.hunks == (file and file.hunk_count or 0)
  if is_listed and file and #file.hunks == file.hunk_count then
    for i, hunk in ipairs(file.hunks) do
      is_listed = is_listed and hunk.id == self.hunks[i].id
    end
  end
  local is_new = not is_listed and self.tick ~= self.asked_tick
  self.asked_tick = is_new and self.tick or self.asked_tick
  return is_new
end

---@return integer index of the first one that ends after this row, or after all
function M.index_at(hunks, row)
  local low, high = 1, #hunks + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    local first, count = unpack(hunks[middle].new)
    -- A hunk without lines is between two rows.
    if row < first + (count == 0 and 2 or count) then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

---@return claude-code.ReviewHunk? the one with this row
function M.hunk_at(hunks, row)
  local hunk = hunks[M.index_at(hunks, row)]
  return hunk and row >= hunk.new[1] and hunk or nil
end

---The buffer of a deleted file keeps its text, and that of a renamed file may have no changes by Claude.
---@return claude-code.ReviewFile? file of such a buffer
function M.file_without_hunks(review, buf)
  local file = review:file_of(buf)
  return file and (file.kind == "deleted" or file.same_text) and file or nil
end

---@return string
function M.binary_words(file)
  local target = vim.uv.fs_readlink(file.path)
  if target then
    return "symlink to " .. visible(target)
  elseif file.kind == "symlink" then
    return "was a symlink"
  end
  local stat = vim.uv.fs_stat(file.path)
  local size = stat
    and (stat.size < 1000 and counted(stat.size, "byte") or ("%.1f kB"):format(stat.size / 1000))
  return size and "binary file, " .. size or "binary file"
end

---@return string name of the buffer in which it is shown
function M.shown_name(file)
  return (file.kind == "deleted" or file.binary) and SCHEME .. file.path:gsub("^%a:", "/%0")
    or file.path
end

---Loads such a buffer.
---@param listed? claude-code.ReviewFile
function M.load_base(buf, listed)
  -- Unload it when hidden: the next review has a different text.
  local options = { buftype = "nofile", bufhidden = "unload", swapfile = false, modifiable = false }
  for option, value in pairs(options) do
    vim.bo[buf][option] = value
  end
  local file = M.base_file(buf) --[[@as string]]
  channel.request("review/base", { path = file }, function(value, problem)
    if not api.nvim_buf_is_loaded(buf) then
      return
    end
    local words = listed and listed.binary and M.binary_words(listed) or nil
    local nothing = problem or "there is nothing to review in this file"
    local lines = file_lines.parse(words or value and value.text or nothing).lines
    -- Language servers must not attach, even while the cursor is in the list.
    local buftype = vim.bo[buf].buftype
    vim.bo[buf].buftype, vim.bo[buf].modifiable = "nofile", true
    api.nvim_buf_set_lines(buf, 0, -1, false, lines)
    vim.bo[buf].modifiable, vim.bo[buf].modified = false, false
    local filetype = vim.filetype.match({ buf = buf, filename = file })
    if filetype then
      require("claude-code.editor.documents.parsing").set_filetype(buf, filetype)
    end
    vim.bo[buf].buftype = buftype
  end)
end

---@return string? file whose base text it holds
function M.base_file(buf)
  local name = api.nvim_buf_get_name(buf)
  if not vim.startswith(name, SCHEME .. "/") then
    return nil
  end
  local file = name:sub(#SCHEME + 1)
  return platform.is_windows and file:gsub("^/(%a:)", "%1") or file
end

return M
