--- What the user made of a proposal that nobody has received: it stays in a buffer.
local api = vim.api
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local buffers = require("claude-code.editor.diff.buffers")
local text = require("claude-code.editor.diff.text")
local windows = require("claude-code.editor.windows")

local M = {}

---Puts it into a buffer without a name, and modified, so that Neovim does not end without a question.
---@param title string of what it is a version
---@param lines string[]
---@param filetype string
---@param what string what happened
function M.keep(title, lines, filetype, what)
  local buf = api.nvim_create_buf(true, false)
  buffers.fill(buf, lines)
  windows.noautocmd(function()
    vim.bo[buf].filetype = filetype
  end)
  buffers.colour(buf)
  vim.bo[buf].modified = true
  local message = "%s: your version of %s is in buffer %d; :buffer %d shows it"
  notify.warn(message:format(what, title, buf, buf))
end

---What the user has made of a proposal by now, for the case that nobody receives it.
---@param proposal claude-code.Proposal
---@return fun(what: string)? keep puts it into a buffer; nil without edits
function M.of(proposal)
  if not proposal:is_edited() then
    return nil
  end
  local lines, filetype = proposal:lines(), vim.bo[proposal.new_buf].filetype
  return function(what)
    M.keep(proposal:title(), lines, filetype, what)
  end
end

---What the user has accepted and edited could not be written.
---@param params { path: string, text: string, problem: string }
function M.unwritten(params)
  local lines = text.parse(params.text).lines
  local what = ("writing the file failed (%s)"):format(params.problem)
  M.keep(path.title(params.path), lines, buffers.filetype_of(params.path, lines), what)
end

return M
