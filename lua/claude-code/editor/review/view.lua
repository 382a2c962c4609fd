--- What a review shows: its quickfix list, its keys, and marks and bars in the user's files.
local api = vim.api
local bars = require("claude-code.editor.review.bars")
local base = require("claude-code.editor.review.base")
local buffers = require("claude-code.editor.review.buffers")
local files = require("claude-code.editor.review.files")
local keys = require("claude-code.editor.review.keys")
local list = require("claude-code.editor.review.list")
local list_window = require("claude-code.editor.review.list_window")
local move = require("claude-code.editor.review.move")
local notify = require("claude-code.messages.notify")
local scopes = require("claude-code.editor.review.scope")

local M = {}

local listed ---@type claude-code.ReviewScope? of the review whose first list has come

---Keys in the buffers of the review, and in its quickfix window.
function M.map_keys()
  for _, win in ipairs(api.nvim_list_wins()) do
    local buf = api.nvim_win_get_buf(win)
    local is_list = vim.bo[buf].buftype == "quickfix" and list.is_current()
    local is_ours = is_list or files.of_buffer(buf) or base.file_of(buf)
    if scopes.active() and is_ours then
      keys.map(buf)
    elseif not is_ours then
      keys.unmap(buf)
    end
  end
end

local function end_review()
  scopes.set_active(nil)
  bars.stop()
  files.collapse()
  keys.unmap_all()
  list_window.close()
end

---Lists again, and shows it everywhere.
---@param callback? fun() once the current buffer is shown
function M.refresh(callback)
  local review = scopes.active()
  files.refresh(function(problem)
    if review ~= scopes.active() then
      return -- the answer is about another review, or none
    elseif problem then
      return notify.error(problem)
    end
    if review and review == listed and list.fill(review) == 0 then
      end_review()
      notify.info(scopes.all_reviewed(review), "review")
    end
    M.map_keys()
    buffers.update_all(callback)
  end)
end

---@param review claude-code.ReviewScope
---@param jump boolean to the first entry at once
function M.open(review, jump)
  scopes.set_active(review)
  bars.start()
  files.refresh(function(problem, incomplete)
    if review ~= scopes.active() then
      return -- another one was opened, or this one closed
    elseif problem then
      end_review()
      return notify.error(problem)
    end
    for _, sentence in ipairs(incomplete or {}) do
      notify.warn(sentence, "review.incomplete")
    end
    if #files.all() == 0 then
      end_review()
      return notify.info(scopes.nothing_in(review), "review")
    end
    listed = review
    list_window.open(list.fill(review))
    if jump then
      move.first()
    end
    M.map_keys()
    buffers.update_all()
  end)
end

---What is undecided stays so.
function M.close()
  end_review()
  M.refresh()
end

return M
