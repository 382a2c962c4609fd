--- A buffer under review: its hunks and what shows them, from the first look at it until it is unloaded or
--- renamed. One object holds all that the review knows of a buffer.
local api = vim.api
local listing = require("claude-code.editor.review.listing")
local marks = require("claude-code.editor.review.marks")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local requests = require("claude-code.server.requests")
local text = require("claude-code.editor.review.buffer_text")

local M = {}

---@class claude-code.ReviewBuffer
---@field buf integer
---@field hunks claude-code.ReviewHunk[] of the text that it had at `tick`
---@field tick? integer
---@field scope? claude-code.ReviewScope that the hunks are of
---@field version? string of its file, with these hunks
---@field is_attached boolean
---@field missed? integer tick of the text because of whose hunks the list was last asked for
---@field marks? claude-code.ReviewMarks what shows them
---@field on_lines? fun() after each change of its text
---@field comment_marks table<string, integer> extmarks by the ids of the comments
local Buffer = {}
Buffer.__index = Buffer

local attached = {} ---@type table<integer, claude-code.ReviewBuffer>

---@param buf integer
---@return claude-code.ReviewBuffer? nil: nothing of the review was shown there
function M.get(buf)
  return attached[buf]
end

---@return claude-code.ReviewBuffer[]
function M.all()
  return vim.tbl_values(attached)
end

---@param buf integer
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
function Buffer:show(file)
  local is_open = listing.review ~= nil
  if not is_open and require("claude-code.config").get().review.signs == "never" then
    file = nil -- nothing keeps it up to date
  end
  local hunks = file and file.hunks or {}
  self.hunks, self.version, self.scope = hunks, file and file.version, listing.scope()
  self.tick = api.nvim_buf_get_changedtick(self.buf)
  vim.b[self.buf].claude_code_review = summary(hunks)
  self.marks = marks.show(self.buf, self.marks, hunks, is_open)
end

---@class claude-code.ReviewFetched
---@field file? claude-code.ReviewFile nil: nothing to review, or nothing that the buffer has, since its
--- unsaved edits are older
---@field problem? string
---@field is_old? boolean the buffer has another text since, or another name

---Asks for the hunks of its text, with their lines. Runs in a task.
---@return claude-code.ReviewFetched
function Buffer:fetch()
  local buf = self.buf
  local name, tick = path.of_buffer(buf), api.nvim_buf_get_changedtick(buf)
  if not name or reload.is_stale(buf) or listing.without_hunks(buf) then
    return {}
  end
  local params = { path = path.real(name), text = text.of(buf) }
  params = vim.tbl_extend("force", params, listing.scope())
  local value, problem = requests.await("review/file", params)
  local is_old = not self.is_attached
    or api.nvim_buf_get_changedtick(buf) ~= tick
    or path.of_buffer(buf) ~= name
  return { file = not is_old and value or nil, problem = problem, is_old = is_old }
end

---@return boolean are its hunks those of the text that it has now?
function Buffer:is_current()
  return self.tick == api.nvim_buf_get_changedtick(self.buf) and self.scope == listing.scope()
end

---Are its hunks those of its text, and of the list? Then nothing has to be asked for.
---@return boolean
function Buffer:is_as_listed()
  local file = listing.of_buffer(self.buf)
  return self:is_current()
    and not reload.is_stale(self.buf)
    and self.version == (file and file.version)
end

---@param hunks claude-code.ReviewHunk[]
---@param row integer
---@return claude-code.ReviewHunk? the one with this row
function M.hunk_at(hunks, row)
  return vim.iter(hunks):find(function(hunk)
    local first, count = hunk.new[1], hunk.new[2]
    -- One without lines is between two.
    return row >= first and row < first + (count == 0 and 2 or count)
  end)
end

local function ids_of(hunks)
  return vim.iter(hunks):fold("", function(ids, hunk)
    return ids .. " " .. hunk.id
  end)
end

---Has the list other hunks than the text, and was it not asked for because of this text? A list that has one entry
---for the file says only how many there are.
---@return boolean
function Buffer:is_missed()
  local file = listing.of_buffer(self.buf)
  local is_cut = file and #file.hunks < file.hunk_count
  local ids = is_cut and tostring(#self.hunks) or ids_of(self.hunks)
  local listed = is_cut and tostring(file.hunk_count) or ids_of(file and file.hunks or {})
  local is_new = ids ~= listed and self.tick ~= self.missed
  self.missed = is_new and self.tick or self.missed
  return is_new
end

return M
