--- What the user made of a proposal that nobody has received: it stays in a buffer.
local api = vim.api
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local buffers = require("claude-code.editor.diff.buffers")
local text = require("claude-code.editor.diff.text")
local windows = require("claude-code.editor.windows")

local M = {}

---Puts them into a buffer without a name, and modified, so that Neovim does not end without a question.
---@param file string
---@param lines string[]
---@param filetype string
---@param what string what happened
local function keep(file, lines, filetype, what)
  local buf = api.nvim_create_buf(true, false)
  buffers.fill(buf, lines)
  windows.noautocmd(function()
    vim.bo[buf].filetype = filetype
  end)
  buffers.colour(buf)
  vim.bo[buf].modified = true
  local message = "%s: your version of %s is in buffer %d (:buffer %d)"
  notify.warn(message:format(what, path.title(file), buf, buf))
end

---The executable is gone before the user decided. Keeps the proposal's text if the user edited it.
---@param proposal claude-code.Proposal
function M.keep(proposal)
  if proposal:is_edited() then
    local filetype = vim.bo[proposal.new_buf].filetype
    keep(proposal.new_path, proposal:lines(), filetype, "the connection to Claude ended")
  end
end

---What the user has accepted and edited could not be written.
---@param params { path: string, text: string, problem: string }
---@return true
function M.unwritten(params)
  local lines = text.parse(params.text).lines
  local filetype = buffers.filetype_of(params.path, lines)
  keep(params.path, lines, filetype, ("writing the file failed (%s)"):format(params.problem))
  return true
end

return M
