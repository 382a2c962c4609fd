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

--- Lists the steps of a turn, or of the whole conversation, of a session. The executable counts private files, and
--- what came before the last thousand steps.
---@param row claude-code.SessionRow
---@param turn "last"|"all"|integer
function M.list(row, turn)
  local params = { session = row.id, remote = row.remote, turn = turn }
  require("claude-code.server.requests").ask("transcript/trail", params, function(trail)
    local count = trail.hidden > 0 and (" (and %d of private files)"):format(trail.hidden) or ""
    if trail.left_out > 0 then
      count = ("%s (%d before them are left out)"):format(count, trail.left_out)
    end
    if #trail.steps == 0 then
      return notify.info("Claude read, searched and edited nothing there" .. count)
    end
    local what = turn == "all" and "the conversation"
      or turn == "last" and "this turn"
      or "turn " .. turn
    local title = ("Claude's trail: %s%s"):format(what, count)
    vim.fn.setqflist({}, " ", { title = title, items = vim.tbl_map(entry_of, trail.steps) })
    vim.cmd("botright copen")
  end)
end

return M
