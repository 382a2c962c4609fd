--- How the user gets to a proposal that waits: by keys in all windows while none is on screen, and, if they left it
--- undecided, by a sign in its file's buffer and by showing one of its own buffers (CTRL-^, :buffer).
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local file_change = require("claude-code.editor.documents.file_change")
local keys = require("claude-code.editor.diff.keys")
local path = require("claude-code.editor.documents.path")

local NEXT, PREVIOUS = "Show the proposal that waits", "Show the last proposal that waits"

local SIGNS = api.nvim_create_namespace("claude-code.diff.waiting")

local M = {}

---@return string words how the user shows one that waits
function M.ways()
  local mapping = vim.iter(api.nvim_get_keymap("n")):find(function(mapping)
    return mapping.desc == NEXT
  end)
  return (mapping and mapping.lhs .. " or " or "") .. ":Claude diff"
end

---At the first line that the proposal would change.
local function place_sign(diff)
  local buf = path.loaded_buffer(diff.proposal.new_path)
  if buf then
    local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
    local same = file_change.between(lines, diff.proposal.proposed.lines, true).head
    local sign = { sign_text = "◇", sign_hl_group = "ClaudeCodeWarning", priority = 20 }
    api.nvim_buf_set_extmark(buf, SIGNS, math.min(same, #lines - 1), 0, sign)
  end
end
---@param aside claude-code.Diff[] those that the user left undecided
function M.update_signs(aside)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    api.nvim_buf_clear_namespace(buf, SIGNS, 0, -1)
  end
  local events = autocommands.new("diff.waiting")
  if #aside > 0 then
    events:on("BufReadPost", function()
      M.update_signs(aside)
    end)
    vim.iter(aside):each(place_sign)
  end
end

---Maps the keys, unless they are mapped already.
---@param switch? fun(step: 1|-1) nil unmaps them
function M.update_keys(switch)
  local taken = {}
  for _, mapping in ipairs(api.nvim_get_keymap("n")) do
    if mapping.desc == NEXT or mapping.desc == PREVIOUS then
      vim.keymap.del("n", mapping.lhs)
    else
      taken[mapping.lhsraw] = true
    end
  end
  for action, step in pairs(switch and { next_diff = 1, previous_diff = -1 } or {}) do
    for _, key in ipairs(keys.of(action)) do
      if switch and not taken[vim.keycode(key)] then
        vim.keymap.set("n", key, function()
          switch(step)
        end, { desc = step > 0 and NEXT or PREVIOUS })
      end
    end
  end
end

---@param diff claude-code.Diff
---@param on_shown fun(buf: integer) the user showed one of its buffers
---@return fun() stop
function M.watch_buffers(diff, on_shown)
  local events = autocommands.new(("diff.aside.%d"):format(diff.proposal.id))
  local is_stopped = false
  local check = vim.schedule_wrap(function(buf)
    if not is_stopped and #vim.fn.win_findbuf(buf) > 0 then
      on_shown(buf)
    end
  end)
  for _, buf in ipairs(vim.tbl_filter(api.nvim_buf_is_loaded, diff.proposal:buffers())) do
    events:on("BufWinEnter", check, { buffer = buf })
  end
  return function()
    is_stopped = true
    events:stop()
  end
end

return M
