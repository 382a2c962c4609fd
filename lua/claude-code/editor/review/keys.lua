--- The keys of a review, in its files and in its quickfix window only. `review.keys` names them.
local api, fn = vim.api, vim.fn
local decide = require("claude-code.editor.review.decide")
local move = require("claude-code.editor.review.move")
local turns = require("claude-code.editor.review.turns")

local M = {}

---@class claude-code.ReviewAction
---@field desc string
---@field is_visual? boolean visual mode has it as well, for the lines that are selected
---@field run fun(target: claude-code.ReviewTarget)

---@param method "hunk"|"file"
---@param step 1|-1
---@return fun()
local function moves(method, step)
  return function()
    turns.move(function()
      move[method](step)
    end)
  end
end

---@type table<string, claude-code.ReviewAction> by the names of `review.keys`
local ACTIONS = {
  keep = { desc = "Keep this change of Claude's", is_visual = true, run = decide.keep },
  undo = { desc = "Undo this change of Claude's", is_visual = true, run = decide.undo },
  next_hunk = {
    desc = "Next change of Claude's",
    run = moves("hunk", 1),
  },
  previous_hunk = {
    desc = "Previous change of Claude's",
    run = moves("hunk", -1),
  },
  next_file = {
    desc = "Next file that Claude changed",
    run = moves("file", 1),
  },
  previous_file = {
    desc = "Previous file that Claude changed",
    run = moves("file", -1),
  },
  comment = {
    desc = "Comment on these lines for Claude",
    is_visual = true,
    run = function(target)
      local range = target.range or { fn.line("."), fn.line(".") }
      vim.cmd.Claude({ args = { "comment" }, range = range })
    end,
  },
}

---@param mode string "n" or "x"
---@return claude-code.ReviewTarget
local function target(mode)
  if mode ~= "x" then
    return {}
  end
  local rows = { fn.line("v"), fn.line(".") }
  table.sort(rows)
  api.nvim_feedkeys(vim.keycode("<Esc>"), "nx", false)
  return { range = rows }
end

---@return claude-code.Key[]
function M.all()
  local options, keys = require("claude-code.config").get().review.keys, {}
  for name, action in pairs(ACTIONS) do
    keys[#keys + 1] = {
      keys = options[name],
      desc = action.desc,
      modes = action.is_visual and { "n", "x" },
      run = function(mode)
        action.run(target(mode))
      end,
    }
  end
  return keys
end

return M
