--- The keys of a diff, in normal mode on both sides. `diff.keys` names them.
local M = {}

---@alias claude-code.DiffAction
---| "accept"
---| "reject"
---| "reject_with_reason"
---| "next_hunk"
---| "previous_hunk"
---| "accept_hunk"
---| "drop_hunk"
---| "next_diff"
---| "previous_diff"
---| "merge"

---@type table<claude-code.DiffAction, string>
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

---@param action claude-code.DiffAction
---@return string[] keys possibly none
function M.of(action)
  local keys = require("claude-code.config").get().diff.keys[action]
  return type(keys) == "string" and { keys } or keys or {}
end

---While a macro is recorded, q ends that. As it is mapped here, the key itself was recorded as well.
local function end_recording()
  local register = vim.fn.reg_recording()
  vim.api.nvim_feedkeys("q", "nx", false)
  vim.fn.setreg(register, (vim.fn.getreg(register):gsub("q$", "")))
end

---@param run fun()
---@return fun()
local function unless_recording(run)
  return function()
    if vim.fn.reg_recording() ~= "" then
      end_recording()
    else
      run()
    end
  end
end

---Neovim waits for the rest of a longer mapping of the buffer, such as `grr` where `gr` drops the hunk.
---@param buf integer
---@param key string
---@return boolean
local function begins_longer(buf, key)
  local raw, mappings = vim.keycode(key), vim.api.nvim_buf_get_keymap(buf, "n")
  return vim.iter(mappings):any(function(mapping)
    return #mapping.lhsraw > #raw and vim.startswith(mapping.lhsraw, raw)
  end)
end

---@param buffers integer[]
---@param actions table<claude-code.DiffAction, fun()>
---@param guard claude-code.DecisionGuard
---@return fun() unmap removes these mappings, by whatever name the options have for them then
function M.map(buffers, actions, guard)
  local mapped = {} ---@type { buf: integer, key: string }[]
  for action, run in pairs(actions) do
    for _, key in ipairs(M.of(action)) do
      local act = DECIDING[action] and guard:wrap(key, run) or run
      act = key == "q" and unless_recording(act) or act
      for _, buf in ipairs(buffers) do
        local nowait = not begins_longer(buf, key)
        vim.keymap.set(
          "n",
          key,
          act,
          { buffer = buf, nowait = nowait, desc = DESCRIPTIONS[action] }
        )
        mapped[#mapped + 1] = { buf = buf, key = key }
      end
    end
  end
  return function()
    for _, mapping in ipairs(mapped) do
      -- Gone already with its buffer, or by the user.
      pcall(vim.keymap.del, "n", mapping.key, { buffer = mapping.buf })
    end
  end
end

return M
