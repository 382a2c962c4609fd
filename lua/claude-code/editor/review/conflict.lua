--- Rows that both Claude and the user have changed: an undo leaves them alone, and shows the texts among
--- which the user decides.
local hunk_keys = require("claude-code.editor.hunks.keys")

---Lines of each text.
local MOST_LINES = 12

local M = {}

---@param lines string[]
---@param title string
---@param rows string[] bytes
local function add(lines, title, rows)
  lines[#lines + 1] = title
  for i = 1, math.min(#rows, MOST_LINES) do
    -- A string of Vim script has no NUL.
    local row = rows[i]:gsub("\r$", ""):gsub("%z", "\n")
    lines[#lines + 1] = "    " .. vim.fn.strtrans(row)
  end
  if #rows > MOST_LINES then
    lines[#lines + 1] = ("    … and %d more lines"):format(#rows - MOST_LINES)
  end
end

---@param conflict claude-code.ReviewConflict
---@param key? string
---@return string[]
local function lines_of(conflict, key)
  local lines = {}
  add(lines, "Now", conflict.now)
  add(lines, "As Claude wrote it", conflict.claude)
  add(lines, "Undone, with your lines", conflict.base)
  vim.list_extend(lines, { "", "Nothing was undone here: you have edited Claude's lines." })
  local how = key and ("%s undoes it and keeps your lines, q leaves it."):format(key)
  lines[#lines + 1] = how or "Edit them, or use :Claude undo! to undo the file and keep your lines."
  return lines
end

---@param conflict claude-code.ReviewConflict
---@param undo fun() undoes it all the same, and keeps the user's lines
function M.show(conflict, undo)
  local lhs = hunk_keys.of(require("claude-code.config").get().review.keys.undo)
  local buf = require("claude-code.messages.float").open(
    "Your edits and Claude's conflict",
    lines_of(conflict, lhs[1])
  )
  for _, key in ipairs(lhs) do
    vim.keymap.set("n", key, function()
      vim.cmd.close()
      undo()
    end, { buffer = buf, nowait = true, desc = "Undo, and keep your lines" })
  end
end

return M
