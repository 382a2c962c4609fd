--- What the user made of a proposal that nobody has received: it stays in a buffer.
local api = vim.api
local channel = require("claude-code.server.channel")
local colours = require("claude-code.editor.diff.colours")
local notify = require("claude-code.messages.notify")
local scratch = require("claude-code.editor.diff.scratch")
local windows = require("claude-code.editor.windows")

---How often it is looked for the end of the executable, for which there is no event, in ms.
local CHECK_MS = 500

---@class claude-code.KeptEdits
---@field title string of the file
---@field lines string[]
---@field filetype string

---Accepted with edits: whether the answer has left is not known yet.
---@type table<integer, claude-code.KeptEdits?> by the proposal's id
local held = {}

local M = {}

---@param proposal claude-code.Proposal
---@return claude-code.KeptEdits? edits nil if the user made none
local function edits_of(proposal)
  if proposal:is_edited() then
    local filetype = vim.bo[proposal.new_buf].filetype
    return { title = proposal:title(), lines = proposal:lines(), filetype = filetype }
  end
end

---@param edits claude-code.KeptEdits
---@return integer buf without a name, and modified, so that Neovim does not end without a question
local function create(edits)
  local buf = api.nvim_create_buf(true, false)
  scratch.fill(buf, edits.lines)
  windows.noautocmd(function()
    vim.bo[buf].filetype = edits.filetype
  end)
  colours.add(buf)
  vim.bo[buf].modified = true
  return buf
end

---@param edits claude-code.KeptEdits
---@param what string what happened
local function keep(edits, what)
  local buf = create(edits)
  local text = "%s: your version of %s is in buffer %d (:buffer %d)"
  notify.warn(text:format(what, edits.title, buf, buf))
end

---The executable is gone, and with it perhaps the answers that it had not passed on.
local function keep_held()
  local all = held
  held = {}
  for _, edits in pairs(vim.v.exiting == vim.NIL and all or {}) do
    keep(edits, "the connection to Claude ended before your answer was sent")
  end
end

local function check_soon()
  vim.defer_fn(function()
    if next(held) and channel.is_attached() then
      check_soon()
    end
  end, CHECK_MS)
end

---The proposal was accepted. Holds the user's edits until `delivered`.
---@param proposal claude-code.Proposal
function M.hold(proposal)
  local edits = edits_of(proposal)
  if not edits then
    return
  end
  channel.on_detach(keep_held)
  if not next(held) then
    check_soon()
  end
  held[proposal.id] = edits
end

---The answer has left, or the file could not be written.
---@param params { id: integer, problem?: string }
---@return true
function M.delivered(params)
  local edits = held[params.id]
  held[params.id] = nil
  if edits and params.problem then
    keep(edits, ("writing the file failed (%s)"):format(params.problem))
  end
  return true
end

---The executable is gone before the user decided. Keeps the proposal's text if the user edited it.
---@param proposal claude-code.Proposal
function M.keep(proposal)
  local edits = edits_of(proposal)
  if edits then
    keep(edits, "the connection to Claude ended")
  end
end

return M
