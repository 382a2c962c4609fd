--- The keys of a diff, in normal mode on both sides. `diff.keys` names them.
local M = {}

---@alias claude-code.DiffAction
---| "accept"
---| "reject"
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
  next_hunk = "Next hunk of the proposal",
  previous_hunk = "Previous hunk of the proposal",
  accept_hunk = "Accept this hunk",
  drop_hunk = "Drop this hunk",
  next_diff = "Next proposal that waits",
  previous_diff = "Previous proposal that waits",
  merge = "Merge your unsaved edits into the proposal",
}

---@param action claude-code.DiffAction
---@return string[] keys possibly none
function M.of(action)
  local keys = require("claude-code.config").get().diff.keys[action]
  return type(keys) == "string" and { keys } or keys or {}
end

---While a macro is recorded, q ends that. Being mapped here, the key itself got recorded as well.
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

---Takes away what was mapped, by whatever name the options had for it then.
---@param session claude-code.Diff
function M.detach(session)
  for _, mapping in ipairs(session.keys or {}) do
    -- Gone already with its buffer, or by the person.
    pcall(vim.keymap.del, "n", mapping.key, { buffer = mapping.buf })
  end
  session.keys = nil
end

---@param session claude-code.Diff
---@param actions table<claude-code.DiffAction, fun()>
function M.attach(session, actions)
  M.detach(session)
  session.keys = {}
  for action, run in pairs(actions) do
    for _, key in ipairs(M.of(action)) do
      local act = key == "q" and unless_recording(run) or run
      for _, buf in ipairs({ session.old_buf, session.new_buf }) do
        vim.keymap.set("n", key, act, { buffer = buf, nowait = true, desc = DESCRIPTIONS[action] })
        table.insert(session.keys, { buf = buf, key = key })
      end
    end
  end
end

return M
