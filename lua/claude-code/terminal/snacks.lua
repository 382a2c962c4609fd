--- The CLI in a terminal of folke/snacks.nvim, with that plugin's windows and styles.
---@class claude-code.SnacksProvider: claude-code.TerminalProvider
local M = {}

---@type table? the snacks.win of the terminal
local terminal

---@return integer? job channel of the running terminal
local function job()
  local buf = terminal and terminal.buf
  if not buf or not vim.api.nvim_buf_is_valid(buf) then
    return nil
  end
  local channel = vim.bo[buf].channel
  return vim.fn.jobwait({ channel }, 0)[1] == -1 and channel or nil
end

function M.open(command, env)
  local ok, snacks = pcall(require, "snacks.terminal")
  if not ok then
    return false,
      'terminal.provider is "snacks", but folke/snacks.nvim is not installed; install it, or set '
        .. 'terminal.provider to "native"'
  end
  local options = require("claude-code.config").get().terminal
  local beside = options.position == "left" or options.position == "right"
  terminal = snacks.open(command, {
    env = env,
    interactive = true,
    win = {
      position = options.position,
      [beside and "width" or "height"] = options.size,
    },
  })
  return job() ~= nil, "snacks.nvim opened no terminal for Claude"
end

function M.is_open()
  return job() ~= nil
end

function M.close()
  local channel = job()
  if channel then
    vim.fn.jobstop(channel)
    terminal:close()
    terminal = nil
  end
end

function M.focus()
  if terminal then
    terminal:show()
    terminal:focus()
    vim.cmd.startinsert()
  end
end

function M.toggle()
  if terminal then
    terminal:toggle()
  end
end

function M.send(text)
  local channel = job()
  if not channel then
    return false
  end
  vim.api.nvim_chan_send(channel, require("claude-code.terminal.paste").bracketed(text))
  return true
end

function M.submit()
  local channel = job()
  if channel then
    vim.api.nvim_chan_send(channel, "\r")
  end
end

return M
