--- Undos of the review in a buffer, until Neovim's own undo takes them back. That is read from the undo tree: the
--- text is the same where the user writes, or deletes, the same lines.
local api = vim.api
local client = require("claude-code.editor.review.client")
local path = require("claude-code.editor.documents.path")

local M = {}

---@type table<integer, { decision: string, change: integer }[]> by buffer: decisions, the last one first, with the
--- number of their change in the undo tree
local undos = {}

---@param buf integer
---@param decision string by which its last change was made
function M.add(buf, decision)
  local undo = { decision = decision, change = api.nvim_buf_call(buf, vim.fn.changenr) }
  undos[buf] = vim.list_extend({ undo }, undos[buf] or {})
end

---The buffer's text is that of before an undo: said before it is sent, or known as written.
---@param buf integer
---@param decision string
function M.take_back(buf, decision)
  local params = { decision = decision, path = path.real(api.nvim_buf_get_name(buf)) }
  client.request("back", params, function() end)
end

---Takes the decisions back whose changes do not lead to the buffer's text any more. Its text must not be sent, or
---known as written, before.
---@param buf? integer
function M.report(buf)
  if not buf or not undos[buf] then
    return
  end
  local tree, leads = api.nvim_buf_call(buf, vim.fn.undotree), {}
  for _, entry in ipairs(tree.entries) do
    leads[entry.seq] = entry.seq <= tree.seq_cur
  end
  undos[buf] = vim.tbl_filter(function(undo)
    -- A buffer that was loaded again may have another tree.
    if not leads[undo.change] and undo.change <= tree.seq_last then
      M.take_back(buf, undo.decision)
    end
    return leads[undo.change]
  end, undos[buf])
end

return M
