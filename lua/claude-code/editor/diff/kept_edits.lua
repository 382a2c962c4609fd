--- What the user made of a proposal that nobody can receive any more: it stays in a buffer.
local api = vim.api
local notify = require("claude-code.messages.notify")
local scratch = require("claude-code.editor.diff.scratch")
local windows = require("claude-code.editor.windows")

local M = {}

---@param lines string[]
---@param filetype string
---@return integer buf without a name, and modified, so that Neovim does not end without a question
local function create(lines, filetype)
  local buf = api.nvim_create_buf(true, false)
  scratch.fill(buf, lines)
  windows.noautocmd(function()
    vim.bo[buf].filetype = filetype
    scratch.highlight(buf)
  end)
  vim.bo[buf].modified = true
  return buf
end

---The executable is gone. Keeps the proposal's text if the user edited it.
---@param proposal claude-code.Proposal
function M.keep(proposal)
  if not proposal:is_edited() then
    return
  end
  local buf = create(proposal:lines(), vim.bo[proposal.new_buf].filetype)
  local text = "the connection to Claude ended: your version of %s is in buffer %d (:buffer %d)"
  notify.warn(text:format(proposal:title(), buf, buf))
end

return M
