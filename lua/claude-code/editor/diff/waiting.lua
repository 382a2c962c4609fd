--- A sign in a file's buffer, at the first line that a proposal which is not on screen would change.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local highlights = require("claude-code.editor.hunks.highlights")
local path = require("claude-code.editor.documents.path")

local NAMESPACE = api.nvim_create_namespace("claude-code.diff.waiting")

---@type claude-code.Autocommands? while there are any
local events

local M = {}

---@param buf integer
---@param proposed string[]
---@return integer row 0-based, in the buffer
local function first_change(buf, proposed)
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  local row = 1
  while row < #lines and lines[row] == proposed[row] do
    row = row + 1
  end
  return row - 1
end

---@param diff claude-code.Diff
local function place(diff)
  local buf = path.loaded_buffer(diff.proposal.new_path)
  if buf then
    local row = first_change(buf, diff.proposal.proposed.lines)
    api.nvim_buf_set_extmark(buf, NAMESPACE, row, 0, {
      sign_text = "◇",
      sign_hl_group = highlights.name("Warning"),
      priority = 20,
    })
  end
end

---Shows a sign for each of the diffs, and for no other.
---@param diffs claude-code.Diff[]
function M.show(diffs)
  if events then
    events:stop()
    events = nil
    vim.iter(api.nvim_list_bufs()):each(function(buf)
      api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
    end)
  end
  if #diffs > 0 then
    events = autocommands.new("diff.waiting")
    events:on("BufReadPost", function()
      M.show(diffs)
    end)
    vim.iter(diffs):each(place)
  end
end

return M
