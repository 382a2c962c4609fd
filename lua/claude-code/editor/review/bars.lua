--- The bars above the windows of a review: they follow the cursor.
local api = vim.api
local bar = require("claude-code.editor.review.bar")
local base = require("claude-code.editor.review.base")
local files = require("claude-code.editor.review.files")
local hunks = require("claude-code.editor.review.hunks")
local kinds = require("claude-code.editor.review.kinds")
local reload = require("claude-code.editor.documents.reload")
local scopes = require("claude-code.editor.review.scope")

local M = {}

local group ---@type integer? of the autocommands, during a review

---@param buf integer
---@return claude-code.ReviewFile? of the list; also of a deleted one's old text
local function listed_file(buf)
  local deleted = base.file_of(buf)
  return deleted and files.of_path(deleted) or files.of_buffer(buf)
end

---@param win integer
---@return claude-code.ReviewPosition? nil: nothing to review there
local function position_in(win)
  local buf = api.nvim_win_get_buf(win)
  local file, found = listed_file(buf), hunks.of(buf)
  local whole = file and kinds.is_whole(file) and kinds.words(file) or nil
  if reload.is_stale(buf) then
    whole, found = file and "not in this buffer, which has unsaved edits" or nil, {}
  end
  if #found == 0 and not whole then
    return nil
  end
  local row, number = api.nvim_win_get_cursor(win)[1], 1
  for i, hunk in ipairs(found) do
    number = hunk.new[1] <= row + 1 and i or number
  end
  local name = file and file.path or api.nvim_buf_get_name(buf)
  local mode = not whole and file and file.mode
  return {
    at = hunks.at(buf, row),
    whole = whole,
    mode = mode and kinds.mode_words(mode) or nil,
    file = files.number(file),
    files = #files.all(),
    hunk = number,
    hunks = #found,
    name = vim.fn.fnamemodify(name, ":."),
  }
end

---Brings the bars of the tab page up to date with the cursors of its windows.
function M.update()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local is_plain = api.nvim_win_get_config(win).relative == "" and not vim.wo[win].diff
    local position = scopes.active() and is_plain and position_in(win)
    if position then
      bar.show(win, position)
    else
      bar.hide(win)
    end
  end
end

---Until `stop`. Plugins that have a bar set it by a timer, or at some of these events; ours is there again
---at once.
function M.start()
  group = api.nvim_create_augroup("claude-code.review.bars", { clear = true })
  local events = { "CursorMoved", "CursorHold", "WinEnter", "WinResized" }
  api.nvim_create_autocmd(events, { group = group, callback = M.update })
  api.nvim_create_autocmd("OptionSet", { group = group, pattern = "winbar", callback = M.update })
end

function M.stop()
  if group then
    api.nvim_del_augroup_by_id(group)
    group = nil
  end
  bar.hide_all()
end

return M
