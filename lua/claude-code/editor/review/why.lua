--- Where a hunk is from: prompts, tools, commands and sessions, in a floating window.
local api = vim.api
local base = require("claude-code.editor.review.base")
local client = require("claude-code.editor.review.client")
local list = require("claude-code.editor.review.list")
local path = require("claude-code.editor.documents.path")
local text = require("claude-code.editor.review.buffer_bytes")
local visible = require("claude-code.lib.visible")

local M = {}

---@param owner claude-code.ReviewOwner
---@param names table<string, string> of sessions, by their ids
local function lines_of(owner, names)
  local agent = owner.agent and " in a subagent" or ""
  local time = os.date("%Y-%m-%d %H:%M:%S", math.floor(owner.at / 1000))
  local lines = { ("%s%s, %s"):format(visible(owner.tool), agent, time) }
  local function add(label, value)
    for i, line in ipairs(vim.split(vim.trim(value or ""), "\n")) do
      if line ~= "" then
        lines[#lines + 1] = ("  %-9s%s"):format(i == 1 and label or "", visible(line))
      end
    end
  end
  add("prompt", owner.prompt)
  add("command", owner.command)
  local session = names[owner.session] or owner.session
  add("session", owner.turn and ("%s, turn %d"):format(session, owner.turn) or session)
  return lines
end

---@param owners claude-code.ReviewOwner[]
local function all_lines(owners)
  local lines, names = {}, require("claude-code.sessions.label").by_conversation() or {}
  for i = #owners, 1, -1 do
    if #lines > 0 then
      lines[#lines + 1] = ""
    end
    vim.list_extend(lines, lines_of(owners[i], names))
  end
  return lines
end

---Shows it for the line under the cursor, or the entry in the quickfix window.
function M.show()
  local notify = require("claude-code.messages.notify")
  local buf, row = list.lines()
  local file = path.of_buffer(buf) or base.file_of(buf)
  if not file then
    return notify.warn("this buffer shows no file")
  end
  local params =
    { path = file, row = row, text = api.nvim_buf_is_loaded(buf) and text.of(buf) or nil }
  client.ask("why", params, function(value)
    if not value or #value.owners == 0 then
      notify.info("Claude changed nothing in this line, as far as it was recorded")
    else
      require("claude-code.messages.float").open("Why this changed", all_lines(value.owners))
    end
  end)
end

return M
