--- The CLI in a terminal of folke/snacks.nvim, with that plugin's windows and styles.
local buffer = require("claude-code.terminal.providers.buffer")

---@class claude-code.SnacksTerminal: claude-code.BufferTerminal
---@field private win table the snacks.win
---@field private restore_others? fun() gives the other windows the sizes that they had before
local Terminal = setmetatable({}, { __index = buffer.Terminal })
Terminal.__index = Terminal

---@class claude-code.SnacksProvider: claude-code.Provider
local M = {}

--- The others of this tab page make room.
---@private
function Terminal:before_showing()
  local restore
  for _, other in ipairs(buffer.open()) do
    ---@cast other claude-code.SnacksTerminal
    if other ~= self and other:is_visible() then
      restore, other.restore_others = other.restore_others, nil
      other.win:hide()
    end
  end
  self.restore_others = restore or require("claude-code.editor.windows.layout").keep_sizes()
end

--- In the place of snacks.nvim's own handlers, which would report that we end it as a failure, and would close the
--- window in which `:qa` is typed: Neovim would stay.
---@private
---@param launch claude-code.TerminalLaunch
function Terminal:watch_exit(launch)
  self.win.events = vim.tbl_filter(function(handler)
    return handler.event ~= "ExitPre"
  end, self.win.events)
  vim.api.nvim_clear_autocmds({ group = self.win.augroup, event = "ExitPre" })
  self.win:on("TermClose", function()
    local is_typing = vim.api.nvim_get_mode().mode == "t"
    self:on_exit(launch, vim.v.event.status, is_typing, function()
      self.win:close()
    end)
  end, { buf = true })
end

---@private
---@return table options for snacks.win
function Terminal:window_options()
  local placement = require("claude-code.terminal.providers.placement")
  local position = placement.position()
  if position == "float" then
    return {
      position = position,
      width = placement.share(),
      height = placement.share(),
      on_win = function(opened)
        -- It would cover a diff.
        require("claude-code.terminal.providers.window").hide_when_left(opened.win, function()
          opened:hide()
        end)
      end,
    }
  end
  local dimension = placement.dimension(position)
  return {
    position = position,
    [dimension] = placement.size(dimension),
    -- With 'equalalways' Neovim makes the other windows equal.
    on_close = function()
      if self.restore_others then
        vim.schedule(self.restore_others)
        self.restore_others = nil
      end
    end,
    -- Its title would take a line from the CLI.
    wo = { winbar = "" },
  }
end

function M.open(launch)
  local ok, snacks = pcall(require, "snacks")
  if not ok then
    return nil,
      'terminal.provider is "snacks", but folke/snacks.nvim is not installed; install it, or set '
        .. 'terminal.provider to "native"'
  end
  local terminal = setmetatable({}, Terminal) ---@type claude-code.SnacksTerminal
  terminal:before_showing()
  terminal.win = snacks.terminal.open(launch.command, {
    env = launch.env,
    cwd = launch.folder,
    auto_close = false,
    win = terminal:window_options(),
  })
  terminal.buf = terminal.win.buf
  terminal:watch_exit(launch)
  buffer.add(terminal, launch.n)
  if not terminal:is_open() then
    return nil, "snacks.nvim did not open a terminal for Claude"
  end
  return terminal
end

function Terminal:close()
  if self:forget() then
    -- With its buffer goes the job.
    self.win:close()
  end
end

function Terminal:focus()
  if not self:is_visible() then
    self:before_showing()
    self.win:show()
  end
  self.win:focus()
  vim.cmd.startinsert()
end

function Terminal:toggle()
  if not self:is_visible() then
    self:before_showing()
  end
  self.win:toggle()
end

return M
