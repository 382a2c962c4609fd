--- The window that a session file (:mksession) kept for Claude's terminal. A session names a
--- terminal's command without its arguments, and would start a CLI that nobody has set up; so the
--- terminal's buffer is called by a name of ours, and what has that name comes back through us.
local api = vim.api

local M = {
  NAME = "claude-code://terminal",
}

--- Whether the terminal that opens next takes a kept window wherever that is.
local returning = false

---@param name string
---@return integer? buf of exactly that name
local function buffer_named(name)
  return vim.iter(api.nvim_list_bufs()):find(function(buf)
    return api.nvim_buf_get_name(buf) == name
  end)
end

--- Calls the buffer of a terminal by our name.
---@param buf integer its command has started
function M.name(buf)
  local before = api.nvim_buf_get_name(buf)
  -- The alternate file is the person's.
  local ok = pcall(vim.cmd.lua, {
    ("vim.api.nvim_buf_set_name(%d, %q)"):format(buf, M.NAME),
    mods = { keepalt = true, silent = true },
  })
  -- Neovim keeps the old name for another, empty buffer.
  local left = ok and buffer_named(before)
  if left and left ~= buf then
    vim.cmd.bwipeout({ left, bang = true, mods = { noautocmd = true } })
  end
end

---@return integer? buf that stands in for the terminal, and is gone with its window
local function stand_in()
  local buf = buffer_named(M.NAME)
  if buf and vim.b[buf].claude_code_stand_in then
    -- A session file may have set it otherwise.
    vim.bo[buf].bufhidden = "wipe"
    return buf
  end
end

--- The window that was kept, for the terminal that opens now. One in another tab page goes, unless
--- it is a session that brings the terminal back.
---@return integer? win
function M.claim()
  local buf = stand_in()
  local elsewhere = returning
  returning = false
  if not buf then
    return nil
  end
  local windows = require("claude-code.terminal.window")
  local win = windows.visible(buf) or elsewhere and vim.fn.win_findbuf(buf)[1] or nil
  for _, other in ipairs(vim.fn.win_findbuf(buf)) do
    if other ~= win then
      windows.leave(other)
    end
  end
  return win
end

---@return boolean
local function may_return()
  -- Nothing is loaded before setup(), or a command.
  local config = package.loaded["claude-code.config"]
  return config ~= nil and config.get().terminal.provider == "native"
end

---@param buf integer
local function bring_back(buf)
  if not api.nvim_buf_is_valid(buf) or buf ~= stand_in() then
    return
  elseif may_return() then
    returning = true
    require("claude-code.terminal").open()
  else
    require("claude-code.terminal.window").hide(buf)
  end
end

--- Once the session is there, and Neovim is up.
---@param callback fun()
local function when_loaded(callback)
  local event = vim.g.SessionLoad and "SessionLoadPost"
    or vim.v.vim_did_enter == 0 and "VimEnter"
    or nil
  if not event then
    return vim.schedule(callback)
  end
  api.nvim_create_autocmd(event, {
    once = true,
    callback = vim.schedule_wrap(function()
      when_loaded(callback)
    end),
  })
end

--- Reads a buffer of our name: makes it a terminal in which nothing runs, as a session file may set
--- its 'buftype', and brings Claude's terminal back in its place.
---@param buf integer
function M.read(buf)
  if vim.bo[buf].buftype == "terminal" then
    return
  end
  vim.bo[buf].swapfile = false
  vim.bo[buf].buflisted = false
  -- No business of the person's autocommands for terminals.
  vim.cmd.lua({ ("vim.api.nvim_open_term(%d, {})"):format(buf), mods = { noautocmd = true } })
  vim.b[buf].claude_code_stand_in = true
  when_loaded(function()
    bring_back(buf)
  end)
end

return M
