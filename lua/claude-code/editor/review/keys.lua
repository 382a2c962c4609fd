--- The keys of a review, in its files and in its quickfix window only. `review.keys` names them.
local api = vim.api

local M = {}

---@alias claude-code.ReviewAction
---| "keep"
---| "undo"
---| "next_hunk"
---| "previous_hunk"
---| "next_file"
---| "previous_file"
---| "comment"

---@type table<claude-code.ReviewAction, string>
local DESCRIPTIONS = {
  keep = "Keep this change of Claude's",
  undo = "Undo this change of Claude's",
  next_hunk = "Next change of Claude's",
  previous_hunk = "Previous change of Claude's",
  next_file = "Next file that Claude changed",
  previous_file = "Previous file that Claude changed",
  comment = "Comment on these lines for Claude",
}

---What visual mode has as well: the lines that are selected.
local VISUAL = { keep = true, undo = true, comment = true }

---What the keys do.
---@type table<claude-code.ReviewAction, fun(visual: boolean)>
local actions = {}

---@class claude-code.ReviewMapping
---@field mode string
---@field lhs string
---@field before table the mapping of the buffer that was there, from maparg(); empty if none

---@type table<integer, claude-code.ReviewMapping[]> by buffer
local mapped = {}

---@param action claude-code.ReviewAction
---@return string[] keys possibly none
function M.of(action)
  local keys = require("claude-code.config").get().review.keys[action]
  return type(keys) == "string" and { keys } or keys or {}
end

---@param buf integer
---@param mode string
---@param lhs string
---@return table mapping empty unless it is the buffer's own
local function own_mapping(buf, mode, lhs)
  return api.nvim_buf_call(buf, function()
    local found = vim.fn.maparg(lhs, mode, false, true)
    return found.buffer == 1 and found or {}
  end)
end

---@param those table<claude-code.ReviewAction, fun(visual: boolean)>
function M.set_actions(those)
  actions = those
end

---@param buf integer
function M.map(buf)
  if mapped[buf] then
    return
  end
  mapped[buf] = {}
  for action, run in pairs(actions) do
    for _, lhs in ipairs(M.of(action)) do
      for _, mode in ipairs(VISUAL[action] and { "n", "x" } or { "n" }) do
        local mapping = { mode = mode, lhs = lhs, before = own_mapping(buf, mode, lhs) }
        table.insert(mapped[buf], mapping)
        vim.keymap.set(mode, lhs, function()
          run(mode == "x")
        end, { buffer = buf, nowait = true, desc = DESCRIPTIONS[action] })
      end
    end
  end
end

---The buffer has its own mappings again.
---@param buf integer
function M.unmap(buf)
  local mappings = mapped[buf] or {}
  mapped[buf] = nil
  if not api.nvim_buf_is_valid(buf) then
    return
  end
  for _, mapping in ipairs(mappings) do
    pcall(vim.keymap.del, mapping.mode, mapping.lhs, { buffer = buf })
    if next(mapping.before) then
      api.nvim_buf_call(buf, function()
        vim.fn.mapset(mapping.mode, false, mapping.before)
      end)
    end
  end
end

function M.unmap_all()
  for buf in pairs(mapped) do
    M.unmap(buf)
  end
end

return M
