--- The quickfix list of all comments: which wait, and whether the lines of those that were sent have changed since.
local fn = vim.fn
local notify = require("claude-code.messages.notify")
local store = require("claude-code.editor.review.comments.store")

local M = {}

local TITLE = "Your comments; :Claude comment delete takes a range"

---@return table item of the list
local function item(comment)
  local place, state = store.place(comment), comment.is_sent and "sent" or "waits"
  local lines = place.is_outdated and ", changed" or comment.is_sent and ", untouched" or ""
  local text = require("claude-code.lib.text").visible((comment.text:gsub("%s+", " ")))
  return {
    filename = comment.path,
    lnum = place.first,
    end_lnum = place.last,
    text = ("%s%s  %s"):format(state, lines, text),
    user_data = { claude_code_comment = comment.id },
  }
end

---Lists all comments in the quickfix window, in the order in which they were made.
function M.show()
  local items, is_ours = vim.tbl_map(item, store.all), fn.getqflist({ title = 0 }).title == TITLE
  if #items == 0 and not is_ours then
    return notify.info("there is no comment; :Claude comment makes one", "send")
  end
  fn.setqflist({}, is_ours and "r" or " ", { title = TITLE, items = items })
  vim.cmd.copen({ mods = { split = "botright" } })
end

---Deletes the comments of some rows of the list.
---@param first integer
---@param last integer
function M.delete(first, last)
  local ids = {}
  for _, one in ipairs(vim.list_slice(fn.getqflist(), first, last)) do
    ids[type(one.user_data) == "table" and one.user_data.claude_code_comment or ""] = true
  end
  local changes = {}
  for _, comment in ipairs(store.all) do
    changes[#changes + 1] = ids[comment.id] and store.change(comment, "deleted") or nil
  end
  if #changes == 0 then
    return notify.warn("go to the list to delete comments: :Claude comment list")
  end
  store.save(changes, M.show)
end

return M
