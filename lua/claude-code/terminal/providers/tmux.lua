--- The CLI in a pane of the tmux that Neovim runs in. tmux starts it, so it inherits nothing from
--- Neovim: what it needs is passed along.
---@class claude-code.TmuxTerminal: claude-code.Terminal
---@field private pane string its id
local Terminal = {}
Terminal.__index = Terminal

---@class claude-code.TmuxProvider: claude-code.Provider
local M = {}

local TIMEOUT_MS = 2000
local BUFFER = "claude-code.nvim"

---@type table<string, claude-code.TmuxTerminal> those that nobody has ended, by their panes
local terminals = {}

---@param arguments string[]
---@param input? string
---@return string? output nil if tmux failed
---@return string? message
local function tmux(arguments, input)
  local program, missing = require("claude-code.programs").on_path("tmux")
  if not program then
    return nil, missing
  end
  local command = vim.list_extend({ program }, arguments)
  local ok, started = pcall(vim.system, command, { text = true, stdin = input })
  if not ok then
    return nil, ("%s cannot be started: %s"):format(program, started)
  end
  local result = started:wait(TIMEOUT_MS)
  if result.code ~= 0 then
    return nil, vim.trim(result.stderr or "")
  end
  return vim.trim(result.stdout or "")
end

--- A pane cannot float: it goes to the right then.
---@return string[] where a pane goes, and how big it is
local function place()
  local placement = require("claude-code.terminal.placement")
  local position = placement.position()
  local is_vertical = position == "float" or placement.dimension(position) == "width"
  local dimension = is_vertical and "width" or "height"
  local arguments = { is_vertical and "-h" or "-v", "-l", tostring(placement.size(dimension)) }
  local before = position == "left" or position == "top"
  return before and vim.list_extend(arguments, { "-b" }) or arguments
end

--- tmux takes a semicolon at an argument's end for the end of its command.
---@param argument string
---@return string
local function literal(argument)
  return (argument:gsub(";$", "\\;"))
end

--- tmux expands formats in a folder's name: one that is called `#(…)` would be run.
---@param folder string
---@return string
local function without_formats(folder)
  return (folder:gsub("#", "##"))
end

---@return string? window in which Neovim's own pane is
local function own_window()
  return tmux({ "display-message", "-p", "-t", vim.env.TMUX_PANE or "", "#{window_id}" })
end

---@return claude-code.TmuxTerminal? terminal that is beside Neovim
local function beside()
  for _, terminal in pairs(terminals) do
    if terminal:is_visible() then
      return terminal
    end
  end
end

--- A pane takes the place of another one, which goes where it was: by that no size changes.
---@param pane string
---@param other claude-code.TmuxTerminal
local function swap(pane, other)
  tmux({ "swap-pane", "-d", "-s", pane, "-t", other.pane })
  tmux({ "select-pane", "-t", pane })
end

local function end_with_neovim()
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = vim.api.nvim_create_augroup("claude-code.terminal", { clear = true }),
    callback = function()
      for _, terminal in pairs(terminals) do
        terminal:close()
      end
    end,
  })
end

function M.open(launch)
  if (vim.env.TMUX or "") == "" then
    return nil,
      'terminal.provider is "tmux", but Neovim does not run in tmux; start it there, or set '
        .. 'terminal.provider to "native"'
  end
  local other = beside()
  local arguments = { other and "new-window" or "split-window", "-P", "-F", "#{pane_id}" }
  vim.list_extend(arguments, { "-c", without_formats(launch.folder) })
  if other then
    table.insert(arguments, "-d")
  else
    vim.list_extend(arguments, { "-t", vim.env.TMUX_PANE })
    vim.list_extend(arguments, place())
  end
  for name, value in pairs(launch.env) do
    vim.list_extend(arguments, { "-e", literal(("%s=%s"):format(name, value)) })
  end
  -- Through env(1): a lone word would be handed to a shell.
  table.insert(arguments, "/usr/bin/env")
  local pane, message = tmux(vim.list_extend(arguments, vim.tbl_map(literal, launch.command)))
  if not pane then
    return nil, ("tmux did not open a pane for Claude: %s"):format(message)
  end
  if other then
    swap(pane, other)
  end
  terminals[pane] = setmetatable({ pane = pane }, Terminal)
  end_with_neovim()
  return terminals[pane]
end

function Terminal:is_open()
  local known = terminals[self.pane] == self
  if known and tmux({ "display-message", "-p", "-t", self.pane, "#{pane_id}" }) ~= self.pane then
    terminals[self.pane] = nil
  end
  return terminals[self.pane] == self
end

function Terminal:is_visible()
  local window = tmux({ "display-message", "-p", "-t", self.pane, "#{window_id}" })
  return window ~= nil and window == own_window()
end

function Terminal:close()
  if self:is_open() then
    tmux({ "kill-pane", "-t", self.pane })
    terminals[self.pane] = nil
  end
end

---@private
function Terminal:hide()
  tmux({ "break-pane", "-d", "-s", self.pane })
end

function Terminal:focus()
  local other = not self:is_visible() and beside()
  if other then
    return swap(self.pane, other)
  elseif not self:is_visible() then
    local arguments = { "join-pane", "-s", self.pane, "-t", vim.env.TMUX_PANE }
    tmux(vim.list_extend(arguments, place()))
  end
  tmux({ "select-pane", "-t", self.pane })
end

function Terminal:toggle()
  if self:is_visible() then
    self:hide()
  else
    self:focus()
  end
end

function Terminal:send(text)
  tmux({ "load-buffer", "-b", BUFFER, "-" }, require("claude-code.terminal.paste").clean(text))
  -- -p: as a paste, if the program asked for that; -r: line ends as they are.
  return tmux({ "paste-buffer", "-p", "-r", "-d", "-b", BUFFER, "-t", self.pane }) ~= nil
end

function Terminal:submit()
  tmux({ "send-keys", "-t", self.pane, "Enter" })
end

return M
