--- How a proposal that is not on screen comes back: by keys in any window, or by showing one of its
--- buffers (CTRL-^, :buffer).
local api = vim.api
local keys = require("claude-code.editor.diff.keys")
local windows = require("claude-code.editor.windows")

local DESCRIPTION = "Show the proposal that waits"

local M = {}

---@param key string
---@return vim.api.keyset.get_keymap? mapping for all buffers
local function mapping_of(key)
  local raw = vim.keycode(key)
  return vim.iter(api.nvim_get_keymap("n")):find(function(mapping)
    return mapping.lhsraw == raw
  end)
end

---@return boolean
local function is_ours(mapping)
  return mapping.desc == DESCRIPTION
end

---@param actions table<claude-code.DiffAction, fun()>
local function map(actions)
  for action, run in pairs(actions) do
    for _, key in ipairs(keys.of(action)) do
      if not mapping_of(key) then
        vim.keymap.set("n", key, run, { desc = DESCRIPTION })
      end
    end
  end
end

local function unmap()
  for _, mapping in ipairs(vim.tbl_filter(is_ours, api.nvim_get_keymap("n"))) do
    vim.keymap.del("n", mapping.lhs)
  end
end

local has_keys = false

---The keys for the next and the previous proposal, those that are not mapped already.
---@param needed boolean
---@param actions table<"next_diff"|"previous_diff", fun()>
function M.set_keys(needed, actions)
  if needed == has_keys then
    return
  end
  has_keys = needed
  if needed then
    map(actions)
  else
    unmap()
  end
end

---@return string words how the user shows it
function M.ways()
  local key = vim.iter(keys.of("next_diff")):find(function(name)
    local mapping = mapping_of(name)
    return mapping ~= nil and is_ours(mapping)
  end)
  return (key and key .. " or " or "") .. ":Claude diff next"
end

---The windows show what they showed before.
---@param buf integer of a proposal
local function clear_windows(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local before = api.nvim_win_call(win, function()
      return vim.fn.bufnr("#")
    end)
    windows.noautocmd(function()
      if before ~= buf and before > 0 and api.nvim_buf_is_loaded(before) then
        windows.show(win, before)
      else
        api.nvim_win_call(win, vim.cmd.enew)
      end
    end)
  end
end

---Calls `show` when the user shows one of the proposal's buffers, in whose place is what was there
---before.
---@param proposal claude-code.Proposal
---@param show fun()
---@return fun() stop
function M.watch_buffers(proposal, show)
  local name = ("claude-code.diff.aside.%d"):format(proposal.id)
  local group = api.nvim_create_augroup(name, { clear = true })
  for _, buf in ipairs(proposal:buffers()) do
    if api.nvim_buf_is_loaded(buf) then
      api.nvim_create_autocmd("BufWinEnter", {
        group = group,
        buffer = buf,
        callback = vim.schedule_wrap(function()
          if pcall(api.nvim_get_autocmds, { group = group }) and #vim.fn.win_findbuf(buf) > 0 then
            clear_windows(buf)
            show()
          end
        end),
      })
    end
  end
  return function()
    pcall(api.nvim_del_augroup_by_id, group)
  end
end

return M
