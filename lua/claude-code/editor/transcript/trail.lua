--- What Claude read, searched and edited, as the quickfix list.
local notify = require("claude-code.messages.notify")

local M = {}

---@type table<string, string>
local WORDS = { read = "read", searched = "searched for", edited = "edited" }

---@param step claude-code.TranscriptStep
---@return vim.quickfix.entry
local function entry_of(step)
  local text = step.act == "searched" and ("%s %s"):format(WORDS.searched, step.subject)
    or WORDS[step.act]
  return {
    filename = step.act ~= "searched" and step.path or nil,
    lnum = step.first or 1,
    end_lnum = step.last,
    text = text,
  }
end

--- Lists the steps of a turn, or of the whole conversation, of a session; private files are only counted.
---@param row claude-code.SessionRow
---@param turn "last"|"all"|integer
function M.list(row, turn)
  local params = { session = row.id, turn = turn }
  require("claude-code.server.requests").ask("transcript/trail", params, function(steps)
    local is_private = require("claude-code.editor.privacy").is_private
    local shown = vim.tbl_filter(function(step)
      return not is_private(step.path)
    end, steps)
    local hidden = #steps - #shown
    local count = hidden > 0 and (" (and %d of private files)"):format(hidden) or ""
    if #shown == 0 then
      return notify.info("Claude read, searched and edited nothing there" .. count)
    end
    local what = turn == "all" and "the conversation"
      or turn == "last" and "this turn"
      or "turn " .. turn
    local title = ("Claude's trail: %s%s"):format(what, count)
    vim.fn.setqflist({}, " ", { title = title, items = vim.tbl_map(entry_of, shown) })
    vim.cmd("botright copen")
  end)
end

return M
