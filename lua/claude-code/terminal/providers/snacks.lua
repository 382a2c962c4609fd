--- The CLI in a terminal of folke/snacks.nvim, with that plugin's windows and styles.
local buffer = require("claude-code.terminal.window.buffer")
local window = require("claude-code.terminal.window")

---@class claude-code.SnacksTerminal: claude-code.BufferTerminal
---@field private win table the snacks.win
local Terminal = setmetatable({}, { __index = buffer.Terminal })
Terminal.__index = Terminal

---@type claude-code.TerminalProvider
local M = {}

local current ---@type claude-code.SnacksTerminal? shown last
local restore_others = function() end ---@type fun() restores the sizes of the other windows

function M.check()
  if not pcall(require, "snacks") then
    return "folke/snacks.nvim is not installed", 'install it, or set terminal.provider to "native"'
  end
end

--- Takes the place of the terminal on screen.
---@private
function Terminal:before_showing()
  local other = current
  current = self
  if other and other ~= self and other:is_visible() then
    other.win:hide()
  else
    restore_others = require("claude-code.editor.windows.layout").keep_sizes()
  end
end

---@private
---@return table options for snacks.win
function Terminal:window_options()
  local position, share = window.position(), window.share()
  if position == "float" then
    local function on_win(opened)
      window.hide_when_left(opened.win, function()
        opened:hide()
      end)
    end
    return { position = position, width = share, height = share, on_win = on_win }
  end
  local dimension = window.dimension(position)
  return {
    position = position,
    [dimension] = window.size(dimension),
    -- With 'equalalways' Neovim makes the other windows equal.
    on_close = function()
      if current == self then
        vim.schedule(restore_others)
      end
    end,
    -- A title would take a line from the CLI.
    wo = { winbar = "" },
  }
end

--- Replaces handlers of snacks.nvim, which would report the end that close() causes as a failure, and would close the
--- window in which the user types `:qa`, so that Neovim would not exit.
---@private
function Terminal:watch_exit()
  self.win.events = vim.tbl_filter(function(handler)
    return handler.event ~= "ExitPre"
  end, self.win.events)
  vim.api.nvim_clear_autocmds({ group = self.win.augroup, event = "ExitPre" })
  self.win:on("TermClose", function()
    self:on_exit(vim.v.event.status, vim.api.nvim_get_mode().mode == "t")
  end, { buf = true })
end

function M.open(launch)
  local terminal = setmetatable({ launch = launch }, Terminal) ---@type claude-code.SnacksTerminal
  terminal:before_showing()
  terminal.win = require("snacks").terminal.open(launch.command, {
    env = launch.env,
    cwd = launch.folder,
    auto_close = false,
    win = terminal:window_options(),
  })
  terminal.buf = terminal.win.buf
  terminal:watch_exit()
  terminal:prepare()
  if not buffer.is_running(terminal.buf) then
    return nil, "snacks.nvim did not open a terminal for Claude"
  end
  return terminal
end

function Terminal:show()
  self:before_showing()
  self.win:show()
end

function Terminal:hide()
  self.win:hide()
end

function Terminal:focus()
  self.win:focus()
  vim.cmd.startinsert()
end

--- The job ends with its buffer.
function Terminal:discard()
  self.win:close()
end

Terminal.close = Terminal.discard

return M
