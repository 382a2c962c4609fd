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
---Which text and scope these hunks are about.
---@type table<integer, { tick: integer, scope: claude-code.ReviewScope }>
local about = {}
local scope ---@type claude-code.ReviewScope?
local soon ---@type fun()?
local pending = {} ---@type table<integer, true>
---Buffers that had hunks: those that are gone come back with |undo|.
local had_hunks = {} ---@type table<integer, true>
---The hunks, by their ids, that the list lacked when it was last asked for because of them.
local missed = {} ---@type table<integer, string>

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
---@param row integer
---@return claude-code.ReviewHunk? nil also where the buffer's text is another one by now
function M.at_now(buf, row)
  local known = about[buf]
  local is_current = known
    and known.tick == api.nvim_buf_get_changedtick(buf)
    and known.scope == M.scope()
  return is_current and M.at(buf, row) or nil
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
  had_hunks[buf] = had_hunks[buf] or #hunks > 0 or nil
  about[buf] = #hunks > 0 and { tick = api.nvim_buf_get_changedtick(buf), scope = M.scope() } or nil
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
  local asked = M.scope()
  files.fetch(buf, asked, function(file)
    if asked == M.scope() then
      show(buf, file and file.hunks or {})
      M.show_bars()
    end
    if callback then
      callback()
    end
  end)
end

---Every buffer on screen, or of which something is shown.
---@param callback? fun() once the current buffer is shown
function M.update_all(callback)
  local wanted = {}
  for _, win in ipairs(api.nvim_list_wins()) do
    local buf = api.nvim_win_get_buf(win)
    wanted[buf] = files.of_buffer(buf) and true or nil
  end
  for buf in pairs(hunks_of) do
    if api.nvim_buf_is_valid(buf) and api.nvim_buf_is_loaded(buf) then
      wanted[buf] = true
    else
      hunks_of[buf], about[buf], had_hunks[buf], missed[buf] = nil, nil, nil, nil
      marks.clear(buf)
    end
  end
  local current = api.nvim_get_current_buf()
  wanted[current] = wanted[current] or callback and true or nil
  for buf in pairs(wanted) do
    M.update(buf, buf == current and callback or nil)
  end
end

---@param hunks claude-code.ReviewHunk[]
---@return string
local function ids_of(hunks)
  return vim.iter(hunks):fold("", function(ids, hunk)
    return ids .. " " .. hunk.id
  end)
end

---@param buf integer
---@return boolean does the list of the review have other hunks than the buffer's text?
local function is_listed_otherwise(buf)
  local file, hunks = files.of_buffer(buf), M.hunks(buf)
  local listed = file and file.hunks or {}
  local is_cut = file and #listed < file.hunk_count
  local ids = is_cut and #hunks .. "" or ids_of(hunks)
  local listed_ids = is_cut and file.hunk_count .. "" or ids_of(listed)
  local is_new = ids ~= listed_ids and missed[buf] ~= ids
  missed[buf] = ids ~= listed_ids and ids or nil
  return scope ~= nil and is_new
end

---The text changed.
---@param buf integer
---@param list_again fun() called where the list of the review has other hunks than the text by then
function M.touch(buf, list_again)
  if not (had_hunks[buf] or files.of_buffer(buf)) then
    return
  end
  pending[buf] = true
  soon = soon
    or timer.debounce(TYPED_MS, function()
      local buffers = vim.tbl_keys(pending)
      pending = {}
      for _, changed in ipairs(buffers) do
        if api.nvim_buf_is_loaded(changed) then
          M.update(changed, function()
            if is_listed_otherwise(changed) then
              list_again()
            end
          end)
        end
      end
    end)
  soon()
end

return M
