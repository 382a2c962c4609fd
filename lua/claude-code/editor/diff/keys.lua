--- The keys of a diff, in normal mode on both sides. `diff.keys` names them.
local hunk_keys = require("claude-code.editor.changes.keys")

local M = {}

---@type table<string, string>
local DESCRIPTIONS = {
  accept = "Accept Claude's proposal",
  reject = "Reject Claude's proposal",
  reject_with_reason = "Reject Claude's proposal with a reason",
  next_hunk = "Next hunk of the proposal",
  previous_hunk = "Previous hunk of the proposal",
  accept_hunk = "Accept this hunk",
  drop_hunk = "Drop this hunk",
  next_diff = "Next waiting proposal",
  previous_diff = "Previous waiting proposal",
  merge = "Merge your unsaved edits into the proposal",
}

---What ends a diff: not in the first moments after it has got the focus.
local DECIDING = { accept = true, reject = true, reject_with_reason = true }

---@param action string
---@return string[] keys possibly none
function M.of(action)
  return hunk_keys.of(require("claude-code.config").get().diff.keys[action])
end

---While a macro is recorded, q ends that. As it is mapped here, the key itself was recorded as well.
local function end_recording()
  local register = vim.fn.reg_recording()
  vim.api.nvim_feedkeys("q", "nx", false)
  vim.fn.setreg(register, (vim.fn.getreg(register):gsub("q$", "")))
end

---@param diff claude-code.Diff on screen
---@return fun() unmap
function M.map(diff)
  local entries = {} ---@type claude-code.Key[]
  for action, description in pairs(DESCRIPTIONS) do
    entries[#entries + 1] = {
      keys = M.of(action),
      desc = description,
      nowait = true,
      run = function(_, key)
        local function act()
          if action == "reject" then
            diff:leave(key == "ZQ")
          else
            diff:act(action)
          end
        end
        if key == "q" and vim.fn.reg_recording() ~= "" then
          end_recording()
        elseif DECIDING[action] then
          diff.view.guard:decide(key, act)
        else
          act()
        end
      end,
    }
  end
  return hunk_keys.map(diff.proposal:buffers(), "diff", entries)
end

return M
