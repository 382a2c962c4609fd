--- What the user is in the middle of though Neovim is in normal mode: the next key is for that, and
--- must not answer a diff that appears just now.
local api, fn = vim.api, vim.fn
local windows = require("claude-code.editor.windows")

---@alias claude-code.BusyReason
---| "float" a floating window has the focus: a diff would open behind it
---| "key" a plugin waits for a key, by getchar()
---| "macro" one is recorded, or executed

local M = {}

---@param win integer
---@return boolean
local function is_claude(win)
  return require("claude-code.terminal.providers.window").is_terminal(win)
end

---Has a floating window the focus, other than Claude's terminal, which gives way to a diff?
---@return boolean
function M.is_in_float()
  return windows.is_floating(0) and not is_claude(0)
end

---@return claude-code.BusyReason?
local function reason_by_state()
  if fn.reg_recording() ~= "" or fn.reg_executing() ~= "" then
    return "macro"
  elseif M.is_in_float() and vim.bo.buftype ~= "" then
    -- One with a file is there to stay, as in zen-mode; the diff gets a tab page of its own.
    return "float"
  end
end

---@param in_key? boolean asked while a key of the user's, or a command, is executed
---@return claude-code.BusyReason?
function M.reason(in_key)
  -- The mode is "n" in getchar() as well: "S" says that Neovim waits for a key, but not for a command
  -- (measured with 0.10.4 and 0.12.4). It says so as well while a command is executed.
  local waits_for_key = not in_key and api.nvim_get_mode().mode == "n" and fn.state("S") ~= ""
  return waits_for_key and "key" or reason_by_state()
end

---Calls once, when that has ended.
---@param callback fun()
function M.when_over(callback)
  local name = ("claude-code.diff.busy.%d"):format(vim.uv.hrtime())
  local group = api.nvim_create_augroup(name, { clear = true })
  local run = vim.schedule_wrap(function()
    if pcall(api.nvim_del_augroup_by_id, group) then
      callback()
    end
  end)
  api.nvim_create_autocmd({ "SafeState", "WinEnter", "WinClosed", "RecordingLeave" }, {
    group = group,
    callback = function(args)
      -- Only then is anything scheduled: that itself leads to the next SafeState.
      if args.event ~= "SafeState" or not reason_by_state() then
        run()
      end
    end,
  })
end

return M
