--- The keys of a diff, in normal mode on both sides. `diff.keys` names them.
local hunk_keys = require("claude-code.editor.changes.keys")

local M = {}

---These end a diff, but not in the first moments after it gets the cursor.
local DECIDING = { accept = true, reject = true, reject_with_reason = true }

---@return string[] keys may be empty
function M.of(action)
  return hunk_keys.of(require("claude-code.config").get().diff.keys[action])
end

---Ends the recording of a macro. Removes the `q` from the register: Neovim recorded it because it is mapped here.
local function end_recording()
  local register = vim.fn.reg_recording()
  vim.api.nvim_feedkeys("q", "nx", false)
  vim.fn.setreg(register, (vim.fn.getreg(register):gsub("q$", "")))
end

---@param diff claude-code.Diff on screen
---@return fun() unmap
function M.map(diff)
  local actions, entries = {}, nil ---@type table<string, claude-code.KeyAction>, claude-code.Key[]
  for action in pairs(require("claude-code.config").get().diff.keys) do
    local is_repeated = action == "accept_hunk" or action == "drop_hunk"
    actions[action] = {
      is_repeated = is_repeated,
      run = function(_, key)
        local function act()
          if action == "reject" then
            diff:quit(key == "ZQ")
          elseif action == "help" then
            hunk_keys.show("Keys of a diff", entries)
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
  entries = hunk_keys.entries("diff", actions)
  return hunk_keys.map(diff.proposal:buffers(), "diff", entries)
end

return M
