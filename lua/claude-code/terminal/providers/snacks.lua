--- The CLI in a terminal of folke/snacks.nvim, with that plugin's windows and styles.
---@class claude-code.SnacksProvider: claude-code.TerminalProvider
local M = {}

---@type table? the snacks.win of the terminal
local terminal

---@type fun()? gives the other windows the sizes that they had before it was shown
local restore_others

local function before_showing()
  restore_others = require("claude-code.terminal.size").save_all()
end

--- With 'equalalways' Neovim makes the other windows equal.
local function on_close()
  if restore_others then
    vim.schedule(restore_others)
    restore_others = nil
  end
end

---@return integer? job channel of the running terminal
local function job()
  local buf = terminal and terminal.buf
  if not buf or not vim.api.nvim_buf_is_valid(buf) then
    return nil
  end
  local channel = vim.bo[buf].channel
  return vim.fn.jobwait({ channel }, 0)[1] == -1 and channel or nil
end

--- In the place of snacks.nvim's own handler, which would report that we end it as a failure.
---@param opened table
local function watch_exit(opened)
  opened:on("TermClose", function()
    if terminal ~= opened then
      return -- we ended it
    end
    terminal = nil
    local is_typing = vim.api.nvim_get_mode().mode == "t"
    local code = vim.v.event.status
    require("claude-code.terminal.exited").handle(opened.buf, code, is_typing, function()
      opened:close()
    end)
  end, { buf = true })
end

---@return table options for snacks.win
local function window_options()
  local placement = require("claude-code.terminal.placement")
  local position = placement.position()
  if position == "float" then
    local float = require("claude-code.config").get().terminal.float
    return {
      position = position,
      width = float.width,
      height = float.height,
      border = float.border,
      on_win = function(opened)
        -- It would cover a diff.
        require("claude-code.terminal.float").hide_when_left(opened.win, function()
          opened:hide()
        end)
      end,
    }
  end
  local dimension = placement.dimension(position)
  return {
    position = position,
    [dimension] = placement.size(dimension),
    on_close = on_close,
    -- Its title would take a line from the CLI.
    wo = { winbar = "" },
  }
end

function M.open(command, env, folder)
  local ok, snacks = pcall(require, "snacks")
  if not ok then
    return false,
      'terminal.provider is "snacks", but folke/snacks.nvim is not installed; install it, or set '
        .. 'terminal.provider to "native"'
  end
  before_showing()
  terminal = snacks.terminal.open(command, {
    env = env,
    cwd = folder,
    auto_close = false,
    win = window_options(),
  })
  watch_exit(terminal)
  vim.b[terminal.buf].claude_code_terminal = true
  require("claude-code.terminal.buffer_name").set(terminal.buf)
  require("claude-code.terminal.keys").map(terminal.buf)
  return job() ~= nil, "snacks.nvim did not open a terminal for Claude"
end

function M.is_open()
  return job() ~= nil
end

function M.is_visible()
  return terminal ~= nil and require("claude-code.terminal.window").find(terminal.buf) ~= nil
end

function M.close()
  local ending = terminal
  terminal = nil
  if ending then
    -- With its buffer goes the job.
    ending:close()
  end
end

--- From anywhere to the terminal, and back.
function M.focus()
  if terminal and vim.api.nvim_get_current_buf() == terminal.buf then
    vim.cmd.wincmd("p")
  elseif terminal then
    if not M.is_visible() then
      before_showing()
      terminal:show()
    end
    terminal:focus()
    vim.cmd.startinsert()
  end
end

function M.toggle()
  if terminal and not M.is_visible() then
    before_showing()
  end
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
