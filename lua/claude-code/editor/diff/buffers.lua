--- The two buffers of a proposal: the file on disk, and the proposed text.
local api = vim.api
local path = require("claude-code.editor.documents.path")
local scratch = require("claude-code.editor.diff.scratch")

local M = {}

---@param proposal claude-code.Proposal
---@param state string
---@return string name of a buffer
local function name_of(proposal, state)
  -- Neovim's own tab line shortens all folders of a name to a letter each.
  local title = proposal:title()
  local folder = path.base(vim.fs.dirname(title))
  local name = path.base(title) .. (folder == "." and "" or " in " .. folder)
  return ("claude-code://%s/%s (%s)"):format(proposal.id, name, state)
end

---@param proposal claude-code.Proposal
---@return string
local function filetype_of(proposal)
  return proposal.target and vim.bo[proposal.target].filetype
    or scratch.filetype_of(proposal.new_path, proposal.proposed.lines)
end

---@param buf? integer
function M.delete(buf)
  if buf and api.nvim_buf_is_valid(buf) then
    pcall(api.nvim_buf_delete, buf, { force = true })
  end
end

---@param proposal claude-code.Proposal
---@return integer buf
function M.old_side(proposal)
  M.delete(proposal.old_buf)
  local name = name_of(proposal, proposal.exists and "on disk" or "new file")
  local buf = scratch.create(name, proposal.old.lines, proposal.base_path)
  vim.bo[buf].filetype = filetype_of(proposal)
  vim.bo[buf].modifiable = false
  return buf
end

---@param proposal claude-code.Proposal with its old side
---@return integer buf
function M.proposed_side(proposal)
  M.delete(proposal.new_buf)
  local name = name_of(proposal, "proposed")
  local buf = scratch.create(name, proposal.proposed.lines, proposal.new_path)
  vim.bo[buf].filetype = vim.bo[proposal.old_buf].filetype
  vim.bo[buf].buftype = "acwrite"
  vim.bo[buf].readonly = false
  if proposal.target then
    scratch.copy_editing_options(buf, proposal.target)
  end
  return buf
end

return M
