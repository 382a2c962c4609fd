--- The user's buffers in which Claude changed something: their hunks, kept up to date with their text,
--- and what shows them.
local api = vim.api
local bar = require("claude-code.editor.review.bar")
local base = require("claude-code.editor.review.base")
local files = require("claude-code.editor.review.files")
local kinds = require("claude-code.editor.review.kinds")
local marks = require("claude-code.editor.review.marks")
local reload = require("claude-code.editor.documents.reload")
local timer = require("claude-code.timer")

---Milliseconds after the last change of a text.
local TYPED_MS = 200

local M = {}

---@type table<integer, claude-code.ReviewHunk[]> by buffer
local hunks_of = {}
local scope ---@type claude-code.ReviewScope?
local soon ---@type fun()?
local pending = {} ---@type table<integer, true>

---@type claude-code.ReviewScope
local UNREVIEWED = { scope = "unreviewed" }

---The scope of the review that is on; nil: none is.
---@param now claude-code.ReviewScope?
function M.set_scope(now)
  scope = now
end

---@return claude-code.ReviewScope of the review, else all that waits for one
function M.scope()
  return scope or UNREVIEWED
end

---@param buf integer
---@return claude-code.ReviewHunk[] of the text it had lately
function M.hunks(buf)
  return hunks_of[buf] or {}
end

---@param buf integer
---@param hunks claude-code.ReviewHunk[]
local function set_variable(buf, hunks)
  if #hunks == 0 then
    vim.b[buf].claude_code_review = nil
    return
  end
  local added, removed, mixed, turn = 0, 0, false, nil
  for _, hunk in ipairs(hunks) do
    added, removed = added + hunk.added, removed + hunk.removed
    mixed = mixed or hunk.mixed
    for _, owner in ipairs(hunk.owners) do
      turn = math.max(turn or 0, owner.turn or 0)
    end
  end
  vim.b[buf].claude_code_review =
    { hunks = #hunks, added = added, removed = removed, mixed = mixed, turn = turn }
end

---@param hunk claude-code.ReviewHunk
---@param row integer
---@return boolean
local function is_at(hunk, row)
  local first, count = hunk.new[1], hunk.new[2]
  if count == 0 then
    return row == first or row == first + 1
  end
  return row >= first and row < first + count
end

---@param hunks claude-code.ReviewHunk[]
---@param row integer
---@return claude-code.ReviewHunk? the one with this row
function M.find(hunks, row)
  return vim.iter(hunks):find(function(hunk)
    return is_at(hunk, row)
  end)
end

---@param buf integer
---@param row integer
---@return claude-code.ReviewHunk?
function M.at(buf, row)
  return M.find(M.hunks(buf), row)
end

---@param buf integer
---@return claude-code.ReviewFile? of the list; also of a deleted one's old text
local function listed_file(buf)
  local deleted = base.file_of(api.nvim_buf_get_name(buf))
  return deleted and files.of_path(deleted) or files.of_buffer(buf)
end

---@param win integer
---@return claude-code.ReviewPosition? nil: nothing to review there
local function position_in(win)
  local buf = api.nvim_win_get_buf(win)
  local file, hunks = listed_file(buf), hunks_of[buf] or {}
  local whole = file and kinds.is_whole(file) and kinds.words(file) or nil
  if reload.is_stale(buf) then
    whole, hunks = file and "not in this buffer, which has unsaved edits" or nil, {}
  end
  if #hunks == 0 and not whole then
    return nil
  end
  local row, number = api.nvim_win_get_cursor(win)[1], 1
  for i, hunk in ipairs(hunks) do
    number = hunk.new[1] <= row + 1 and i or number
  end
  local name = file and file.path or api.nvim_buf_get_name(buf)
  local mode = not whole and file and file.mode
  return {
    at = M.at(buf, row),
    whole = whole,
    mode = mode and kinds.mode_words(mode) or nil,
    file = files.number(file),
    files = #files.all(),
    hunk = number,
    hunks = #hunks,
    name = vim.fn.fnamemodify(name, ":."),
  }
end

---Brings the bars of windows up to date with their cursors.
function M.show_bars()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local is_plain = api.nvim_win_get_config(win).relative == "" and not vim.wo[win].diff
    local position = scope and is_plain and position_in(win)
    if position then
      bar.show(win, position)
    else
      bar.hide(win)
    end
  end
end

---@param buf integer
---@param hunks claude-code.ReviewHunk[]
local function show(buf, hunks)
  if not scope and require("claude-code.config").get().review.signs == "never" then
    hunks = {} -- nothing keeps them up to date
  end
  hunks_of[buf] = #hunks > 0 and hunks or nil
  set_variable(buf, hunks)
  if #hunks > 0 then
    marks.show(buf, hunks, scope ~= nil)
  else
    marks.clear(buf)
  end
end

---Asks for a buffer's hunks, and shows them.
---@param buf integer
---@param callback? fun()
function M.update(buf, callback)
  files.fetch(buf, M.scope(), function(file)
    show(buf, file and file.hunks or {})
    M.show_bars()
    if callback then
      callback()
    end
  end)
end

---Every buffer on screen, or of which something is shown.
function M.update_all()
  local wanted = {}
  for _, win in ipairs(api.nvim_list_wins()) do
    local buf = api.nvim_win_get_buf(win)
    wanted[buf] = files.of_buffer(buf) and true or nil
  end
  for buf in pairs(hunks_of) do
    if api.nvim_buf_is_valid(buf) and api.nvim_buf_is_loaded(buf) then
      wanted[buf] = true
    else
      hunks_of[buf] = nil
    end
  end
  vim.iter(vim.tbl_keys(wanted)):each(M.update)
end

---The text changed.
---@param buf integer
function M.touch(buf)
  if not (hunks_of[buf] or files.of_buffer(buf)) then
    return
  end
  pending[buf] = true
  soon = soon
    or timer.debounce(TYPED_MS, function()
      local buffers = vim.tbl_keys(pending)
      pending = {}
      for _, changed in ipairs(buffers) do
        if api.nvim_buf_is_loaded(changed) then
          M.update(changed)
        end
      end
    end)
  soon()
end

return M
